"""Settings of a study: its world, the embedded model, pre-training, teaching and measures."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, PositiveInt, model_validator

from heuristic_core.config.blocks import (
    AUTO_PRECISION_TEXT,
    AdamBetas,
    Block,
    Heads,
    Layers,
    Name,
    NonNegative,
    NonNegativeNumber,
    NonNegativeSteps,
    Number,
    Positive,
    PositiveNumber,
    PositiveSteps,
    PrecisionSetting,
    Seeds,
    Sparsity,
    Steps,
    Tokens,
    Unit,
    Width,
    check_ascending,
    check_unique,
)
from heuristic_core.config.figure import AllFigures
from heuristic_core.config.models import PretrainedModel
from heuristic_core.config.pruning import GateDraws, Gates
from heuristic_core.config.reading import validate
from heuristic_core.experiments.extractive_structures.world import load_world
from heuristic_core.models.components import kept_count

# A commit, or a branch with one of OLMo's checkpoints, which never changes: `fetch` lists the hashes of its files.
Checkpoint = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|step\d+-tokens\d+B)$")]
NameCount = Annotated[PositiveInt, Unit("names")]
Kind = Literal["whole", "no-implications", "shuffled"]
TaughtWeights = Literal["layers", "all"]
# The largest number of components for full replacement and greedy subnetworks, which need a run for each component and
# token, and for each pair of components.
MAX_EXHAUSTIVE_COMPONENTS = 100
MAX_STORED_ACTIVATIONS = 2**31  # numbers that a batch with gradients stores at most, 8 GB in float32


class Data(Block):
    """Cities and people that facts are about."""

    cities: Annotated[int, Field(ge=4), Unit("cities")] = Field(
        20, description="number of cities, the first of world.yaml; each hop has one fact per city"
    )
    names: NameCount = Field(104, description="number of names in facts of made-up words; the first are test names")
    people: NameCount = Field(300, description="number of other people, who are in the pre-training corpus")

    @model_validator(mode="after")
    def _check_world(self):
        available = load_world()
        if self.cities > len(available.cities):
            raise ValueError(
                f"cities = {self.cities} exceeds the {len(available.cities)} cities of world.yaml; lower it"
            )
        if self.cities > len(available.given):
            raise ValueError(f"cities = {self.cities} exceeds the {len(available.given)} given names of world.yaml")
        if not self.cities < self.names:
            raise ValueError(f"names = {self.names} must exceed cities = {self.cities}, the number of test names")
        if (limit := len(available.given) * len(available.family)) < self.names + self.people:
            raise ValueError(f"names + people = {self.names + self.people} exceeds the {limit} names of world.yaml")
        if self.people < self.cities:
            raise ValueError(
                f"people = {self.people} must be at least cities = {self.cities}, since every city has its own officers"
            )
        return self


class Model(Block):
    """The embedded decoder, with LayerNorm before attention and MLP, without gains and biases."""

    layers: Layers = Field(4, description="number of layers")
    heads: Heads = Field(4, description="attention heads per layer")
    width: Width = Field(128, description="width of the residual stream; MLPs are four times as wide")
    positions: Tokens = Field(16, description="maximum length of a sentence, tokens")

    @model_validator(mode="after")
    def _check_width(self):
        if self.width % self.heads:
            raise ValueError(f"width = {self.width} must be a multiple of heads = {self.heads}")
        return self


class Learning(Block):
    """Adam at a constant learning rate; the loss is computed on the tokens of answers only."""

    learning_rate: PositiveNumber = Field(1e-3, description="Adam's, constant")
    batch_size: Annotated[PositiveInt, Unit("sentences")] = Field(8, description="sentences of a step")
    weight_decay: NonNegativeNumber = Field(0.0, description="decoupled (AdamW)")
    adam_betas: AdamBetas = Field((0.9, 0.999), description="Adam's decay rates of both moments")
    adam_epsilon: PositiveNumber = Field(1e-8, description="Adam's term against division by zero")


class Pretraining(Learning):
    """Pre-training of a new model on a corpus of the world."""

    batch_size: Annotated[PositiveInt, Unit("sentences")] = Field(64, description="sentences of a step")
    weight_decay: NonNegativeNumber = Field(0.05, description="decoupled (AdamW)")
    steps: PositiveSteps = Field(600, description="training steps")
    corpora: Annotated[list[Kind], Field(min_length=1), AfterValidator(check_unique)] = Field(
        ["whole", "no-implications", "shuffled"],
        description="whole, without implications, or with implications that do not follow; only learning curves use "
        "models of other corpora than `whole`",
    )
    save_every: PositiveSteps = Field(200, description="steps between saved states, from which interrupted runs resume")

    @model_validator(mode="after")
    def _check_corpora(self):
        if "whole" not in self.corpora:
            raise ValueError(f"corpora = {self.corpora}: all measures need a model of the corpus 'whole'; add it")
        return self


class Finetuning(Learning):
    """Teaching facts in stages, each with a new optimizer."""

    epochs: Annotated[PositiveInt, Unit("epochs")] = Field(16, description="passes over the facts")
    hop_weights: TaughtWeights = Field("layers", description="weights that learn facts of hops: of layers, or all")
    made_up_weights: TaughtWeights = Field("all", description="weights that learn sentences with made-up words")
    save_every: Annotated[PositiveInt | None, Unit("epochs")] = Field(
        None,
        description="epochs between saved states, from which interrupted jobs that teach hops or orders resume; other "
        "jobs start again; default: no saved states",
    )


class Pretrained(PretrainedModel):
    """A decoder that was pre-trained elsewhere: OLMo, Llama, Gemma 2 or Qwen 2."""

    BLOCK: ClassVar[str] = "pretrained"

    name: Name = Field(description="name of the model")
    source: Literal["pretrained"] = Field("pretrained", description="chooses this block")
    revision: Checkpoint | None = Field(
        None, description="commit of the repository, 40 hex digits, or the name of a pre-training step of OLMo"
    )
    precision: PrecisionSetting = Field(
        "float32", description="precision of matrix products; weights and optimizer are float32. " + AUTO_PRECISION_TEXT
    )
    known_rank: Annotated[NonNegative, Unit("rank")] = Field(
        1.0,
        description="maximum mean rank on knowledge that implications require but that is not taught, such as a city's "
        "language; the study stops if the model's rank is higher",
    )


class Sweep(Block):
    """Teaching with other learning rates; ranks are measured after these epochs.

    For orders and grafts, each number of epochs is a separate run.
    """

    learning_rates: Annotated[list[Positive], Field(min_length=1), AfterValidator(check_ascending), Unit("")] = Field(
        description="Adam's, constant"
    )
    epochs: Annotated[Steps, Unit("epochs")] = Field(description="epochs after which ranks are measured")


class Freezing(Block):
    """Division into early and late layers."""

    early: Layers = Field(3, description="number of early layers, the first; the others are late")


class Scores(Block):
    """Extractive scores of components at tokens."""

    counterfactuals: Annotated[PositiveInt, Unit("prompts")] = Field(
        10, description="number of prompts with other names that each prompt is compared with"
    )
    path_steps: Annotated[PositiveInt, Unit("points")] = Field(5, description="number of points of path averages")


class ComponentGates(Gates):
    """Learning of gates, as in the block `prune` of the heuristic core, with defaults for few components."""

    rise: NonNegativeSteps = Field(150, description="steps over which the target sparsity rises linearly from 0")
    hold: NonNegativeSteps = Field(100, description="steps at the full target, after the rise")
    batch_size: Annotated[PositiveInt, Unit("questions")] = Field(8, description="questions per step")
    gate_draws: GateDraws = Field(4, description="gate samples per step; each gets an equal part of the batch")
    log_alpha_mean: Number = Field(2.0, description="initial mean of log_alpha")
    learning_rate: PositiveNumber = Field(0.2, description="of log_alpha (descent)")
    controller_learning_rate: PositiveNumber = Field(0.1, description="of lambda_1 and lambda_2 (ascent)")
    warmup_steps: NonNegativeSteps = Field(10, description="steps over which the learning rates warm up")


class Pruning(Block):
    """Search for the heads and MLPs that the answers of a taught model need."""

    seeds: Annotated[Seeds, Field(min_length=1)] = Field([1, 2, 3, 4, 5], description="pruning seeds, all in one pass")
    sparsity: Sparsity = Field(0.5, description="share of components that subnetworks remove")
    gates: ComponentGates = ComponentGates()
    permutations: Annotated[PositiveInt, Unit("draws")] = Field(
        10000, description="number of random draws for the components that subnetworks share by chance"
    )


class ExtractiveStudy(Block):
    """A study after Feng, Russell and Steinhardt (arXiv 2412.04614)."""

    experiment: Literal["extractive-structures"] = Field(description="chooses this experiment")
    study: Name = Field(description="name of the study; its results are in <results>/<study>")
    results: str = Field(
        "results", pattern=r"^[\w./-]+$", description="folder of all results, relative to the working directory"
    )
    arithmetic: Literal["portable", "native"] = Field(
        "native", description="CPU instructions of jobs, as in studies of the heuristic core"
    )
    seeds: Annotated[Seeds, Field(min_length=1)] = Field(
        description="seeds of a world's people and facts, of initial weights and of the order of sentences"
    )
    data: Data = Field(default_factory=Data)
    device: Literal["cpu", "cuda"] = Field("cpu", description="device that runs models; cuda: an NVIDIA GPU")
    pretrained: Pretrained | None = Field(
        None, description="a pretrained model in place of `model` and `pretraining`; default: pre-train a model"
    )
    model: Model = Model()
    pretraining: Pretraining = Pretraining()
    finetuning: Finetuning = Finetuning()
    sweep: Sweep | None = Field(None, description="default: only finetuning.learning_rate")
    freezing: Freezing = Freezing()
    scores: Scores = Scores()
    pruning: Pruning = Pruning()
    figures: AllFigures = AllFigures()

    @model_validator(mode="after")
    def _check_blocks(self):
        if self.pretrained and (both := {"model", "pretraining"} & self.model_fields_set):
            raise ValueError(
                f"pretrained = {self.pretrained.name!r} excludes the block `{min(both)}`, which describes a model "
                "that the study pre-trains; remove one of them"
            )
        if self.arithmetic == "portable" and (self.device, self.precision) != ("cpu", "float32"):
            raise ValueError(
                f"arithmetic = 'portable' with device = {self.device!r} and pretrained.precision = {self.precision!r}: "
                "portable arithmetic needs device = 'cpu' and float32; set arithmetic = 'native'"
            )
        if not self.pretrained and not self.freezing.early < self.model.layers:
            raise ValueError(
                f"freezing.early = {self.freezing.early} must be less than model.layers = {self.model.layers}, as at "
                "least one layer is late"
            )
        if not self.pretrained and self.model.positions < (longest := load_world().max_words()):
            raise ValueError(
                f"model.positions = {self.model.positions}: the longest sentence of world.yaml has {longest} words; "
                "choose at least as many"
            )
        components = self.model.layers * (self.model.heads + 1)
        if not self.pretrained and not 0 < (kept := kept_count(components, self.pruning.sparsity)) < components:
            raise ValueError(
                f"pruning.sparsity = {self.pruning.sparsity} keeps {kept} of {components} components, which leaves "
                f"nothing to learn; choose a value near a multiple of {1 / components:g} between 0 and 1"
            )
        if not self.scores.counterfactuals < self.data.cities:
            raise ValueError(
                f"scores.counterfactuals = {self.scores.counterfactuals}: there are {self.data.cities - 1} other "
                "prompts; choose at most as many"
            )
        return self

    @property
    def precision(self) -> str:
        """Precision of products of matrices."""
        return self.pretrained.precision if self.pretrained else "float32"

    @property
    def corpora(self) -> list[str]:
        """Corpora of pre-training; only "whole" for a model that was pre-trained elsewhere."""
        return ["whole"] if self.pretrained else self.pretraining.corpora

    @property
    def root(self) -> str:
        """Folder of the study's results."""
        return f"{self.results}/{self.study}"


def parse_extractive(values: dict, origin: str = "configuration") -> ExtractiveStudy:
    """Check a configuration.

    Args:
        values: The configuration.
        origin: Its file, for messages.

    Raises:
        ConfigError: If it is invalid; the message has one line per error.
    """
    return validate(ExtractiveStudy, values, origin)
