"""The blocks of a study's configuration, one pydantic model each.

Every field states its meaning and unit; limits that concern one field stand on the field, those that tie
several fields together stand in a validator of the block, or of :class:`heuristic_core.config.study.Study`
where they tie blocks together. A message says which value is wrong and what would be right.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, model_validator


def _yaml_exponent(value):
    """YAML 1.1 reads ``1e-3`` (no point) as text; it is a number to everyone else."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _unique(values: list) -> list:
    repeated = sorted({v for v in values if values.count(v) > 1})
    if repeated:
        raise ValueError(f"{values} has {', '.join(map(str, repeated))} more than once; list every value once")
    return values


def _ascending(values: list) -> list:
    _unique(values)
    if values != sorted(values):
        raise ValueError(f"{values} must be in ascending order: {sorted(values)}")
    return values


def _four_decimals(value: float) -> float:
    """Paths and wildcards spell a sparsity with few digits."""
    if value != round(value, 4):
        raise ValueError(f"{value} has more than four decimals; round it")
    return value


Real = Annotated[float, BeforeValidator(_yaml_exponent), Field(allow_inf_nan=False)]
Positive = Annotated[Real, Field(gt=0)]
NonNegative = Annotated[Real, Field(ge=0)]
Share = Annotated[Real, Field(ge=0, le=1)]
Sparsity = Annotated[Real, Field(gt=0, lt=1), AfterValidator(_four_decimals)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]
Seeds = Annotated[list[Seed], AfterValidator(_unique)]
Steps = Annotated[list[PositiveInt], Field(min_length=1), AfterValidator(_ascending)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=60)]


class Block(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Architecture(Block):
    """A BERT encoder of any size, as Hugging Face's ``BertConfig`` describes it."""

    layers: PositiveInt
    heads: PositiveInt = Field(description="attention heads per layer")
    hidden: PositiveInt = Field(description="width of the residual stream")
    feed_forward: PositiveInt = Field(description="width inside the MLP")
    positions: PositiveInt = Field(description="longest input, in tokens")

    @model_validator(mode="after")
    def _heads_divide_hidden(self):
        if self.hidden % self.heads:
            raise ValueError(f"hidden = {self.hidden} must be a multiple of heads = {self.heads}")
        return self


class Initialisation(Block):
    """How a model that is not pre-trained starts. All weights are normal with standard deviation `std`, then scaled."""

    std: Positive = 0.02
    embedding_scale: Positive = Field(1.0, description="factor on position and type embeddings")
    query_key_scale: Positive = Field(1.0, description="factor on query and key weights")
    tie_query_key: bool = Field(False, description="key weights start equal to query weights: soft same-word attention")


class NewModel(Block):
    """A model built from a configuration: no weights are loaded."""

    name: Name
    source: Literal["new"]
    architecture: Architecture
    initialisation: Initialisation = Initialisation()


class PretrainedModel(Block):
    """A pretrained encoder: a folder, a hub identifier, or files inside an installed Python package."""

    name: Name
    source: Literal["pretrained"]
    location: str = Field(description="folder or hub identifier; with `package`, the folder inside that package")
    package: str | None = Field(None, description="import name of an installed package that carries the model")
    revision: str | None = Field(None, description="commit of the hub repository")


class GeneratedTask(Block):
    """The miniature's language; see :mod:`heuristic_core.tasks.language`."""

    name: Name
    source: Literal["generated"]
    seed: Seed
    train_pairs: PositiveInt
    counter_examples: Share = Field(description="share of training pairs on which the overlap heuristic is wrong")
    counter_example_weights: list[NonNegative] = Field(
        min_length=11,
        max_length=11,
        description="how often each of the 11 subcases occurs among the counter-examples",
    )
    id_pairs: PositiveInt = Field(description="in-domain evaluation pairs")
    pairs_per_subcase: PositiveInt = Field(description="evaluation pairs of each subcase")
    max_length: PositiveInt = Field(description="longest encoded pair, in tokens")

    @model_validator(mode="after")
    def _some_weight(self):
        if not any(self.counter_example_weights):
            raise ValueError("counter_example_weights are all 0; give at least one subcase a positive weight")
        return self


class SplitFile(Block):
    """A Parquet file of sentence pairs."""

    file: str
    sentences: tuple[str, str] = Field(strict=False, description="columns of the first and the second sentence")
    label: str = Field("label", description="column of the label")
    labels: list[str] | None = Field(
        None, description="the label names that stand behind 0, 1, ...; default: the task's"
    )


class EvaluationFile(SplitFile):
    """A file that holds one evaluation subset or, with `split_by`, several."""

    group: Literal["id", "ood", "ood-entailment"] | None = Field(None, description="group of all of its pairs")
    group_by_label: dict[str, Literal["id", "ood", "ood-entailment"]] | None = Field(
        None, description="group of the pairs of each label name"
    )
    split_by: str | None = Field(None, description="column whose values become subsets")
    family_by: str | None = Field(None, description="column that names the family of a subset")
    pairs: PositiveInt | None = Field(None, description="use a sample of at most so many pairs of each subset")
    merge: dict[str, str] | None = Field(
        None, description="a class of the task -> the label of this file that it counts as, for each class"
    )

    @model_validator(mode="after")
    def _one_group_rule(self):
        if (self.group is None) == (self.group_by_label is None):
            raise ValueError("give exactly one of `group` and `group_by_label`")
        return self


class FilesTask(Block):
    """A task whose splits are local Parquet files."""

    name: Name
    source: Literal["files"]
    folder: str = Field(description="where the files lie, relative to the working directory")
    labels: Annotated[list[str], AfterValidator(_unique)] = Field(
        min_length=2, description="label names in the model's class order"
    )
    train: list[SplitFile] = Field(min_length=1, description="files whose rows together are the training set")
    train_pairs: PositiveInt | None = Field(None, description="use the first so many training pairs after shuffling")
    seed: Seed = Field(0, description="of that shuffle and of samples of evaluation pairs")
    evaluation: dict[Name, EvaluationFile] = Field(min_length=1)
    max_length: PositiveInt = Field(128, description="longest encoded pair, in tokens")


AnyModel = Annotated[NewModel | PretrainedModel, Field(discriminator="source")]
AnyTask = Annotated[GeneratedTask | FilesTask, Field(discriminator="source")]


class Finetune(Block):
    """Fine-tuning of the whole model (paper, section 3)."""

    seeds: Annotated[Seeds, Field(min_length=1)]
    steps: PositiveInt
    batch_size: PositiveInt = Field(description="pairs")
    learning_rate: Positive
    warmup_steps: Annotated[int, Field(ge=0)] = 0
    weight_decay: NonNegative = 0.0
    adam_betas: tuple[Share, Share] = Field((0.9, 0.999), strict=False)
    adam_epsilon: Positive = 1e-8
    dropout: Annotated[Share, Field(lt=1)] | None = Field(None, description="default: what the model's config says")
    label_smoothing: Annotated[Share, Field(lt=1)] = 0.0
    clip_norm: Positive | None = Field(None, description="largest gradient norm")
    checkpoints: Steps = Field(description="steps whose weights are kept")
    evaluate_every: PositiveInt = Field(description="steps between evaluations")
    save_every: PositiveInt = Field(
        500, description="steps between saved states, from which an interrupted run resumes"
    )
    threads: PositiveInt = Field(1, description="CPU threads of one fine-tuning job")

    @model_validator(mode="after")
    def _inside_the_run(self):
        if self.checkpoints[-1] > self.steps:
            raise ValueError(
                f"checkpoints: {self.checkpoints[-1]} lies beyond the last step; "
                f"list steps from 1 to steps = {self.steps}, or raise steps"
            )
        if self.warmup_steps > self.steps:
            raise ValueError(f"warmup_steps = {self.warmup_steps} exceeds steps = {self.steps}")
        return self


class Prune(Block):
    """Structured pruning with hard-concrete gates (paper, section 3.2 and appendix B).

    Where the paper's released code does otherwise than its text or than CoFi, both ways are settings:
    `config/pruning/as-published.yaml` holds what that code did, `config/pruning/default.yaml` this project's defaults
    at the paper's scale.
    """

    rise: Annotated[int, Field(ge=0)] = Field(description="steps over which the target sparsity rises linearly from 0")
    rise_per_percent: NonNegative = Field(0.0, description="further such steps for each percent of sparsity")
    hold: Annotated[int, Field(ge=0)] = Field(description="steps after that, at the full target")
    hold_per_percent: NonNegative = Field(0.0, description="further such steps for each percent of sparsity")
    batch_size: PositiveInt = Field(description="pairs per step")
    gate_draws: PositiveInt = Field(
        1,
        description="gate samples per step, among which the batch is divided evenly; "
        "the released code draws for each of 4 micro-batches of 32",
    )
    log_alpha_mean: Real = Field(10.0, description="mean of log_alpha at the start")
    log_alpha_std: NonNegative = 0.01
    learning_rate: Positive = Field(0.1, description="of log_alpha (descent)")
    controller_learning_rate: Positive = Field(1.0, description="of lambda_1 and lambda_2 (ascent)")
    weight_decay: NonNegative = Field(
        0.0, description="AdamW's on log_alpha: pulls it to 0 without any gradient; the released code has 0.01"
    )
    controller_weight_decay: NonNegative = Field(0.0, description="AdamW's on the lambdas; the released code has 0.01")
    warmup_steps: Annotated[int, Field(ge=0)] = Field(200, description="steps over which the learning rates warm up")
    decay: Literal["after-warmup", "from-start"] = Field(
        "after-warmup",
        description="when the linear decay of the learning rates to 0 begins; the released code: after-warmup",
    )
    controller: Literal["sampled", "expected"] = Field(
        "sampled",
        description="the sparsity that the controller steers: of the sampled gates (released code) or expected (CoFi); "
        "the expected one has next to no gradient at log_alpha = 10, so start lower with it",
    )
    dropout: bool = Field(
        False, description="dropout in the gated model, at the rates of its config.json; the released code: true"
    )
    discretise: Literal["exact", "threshold"] = Field(
        "exact",
        description="keep exactly k = round((1 - sparsity) N) components of largest log_alpha, or by the paper's rule: "
        "layer by layer, then above a threshold",
    )
    thresholds: dict[Sparsity, Annotated[Share, Field(lt=1)]] = Field(
        {}, description="thresholds set by hand; for other sparsities chosen on `held_out` training pairs"
    )
    held_out: PositiveInt = Field(
        500, description="training pairs after the first `examples`, on which a threshold is chosen"
    )
    precision: Literal["float32", "bfloat16"] = Field(
        "float32", description="of the frozen model; gates, losses and the optimizer are float32"
    )
    save_every: PositiveInt = Field(50, description="steps between saved states, from which an interrupted run resumes")
    together: PositiveInt = Field(
        1,
        description="at most so many pruning seeds share one pass, and so one job: faster for small models (and on a "
        "GPU that one run does not fill), but they are also rerun together",
    )
    examples: PositiveInt = Field(description="pruning draws from the first so many training pairs")
    mean_examples: PositiveInt = Field(description="component means come from the first so many training pairs")

    @model_validator(mode="after")
    def _consistent(self):
        if self.batch_size % self.gate_draws:
            raise ValueError(f"batch_size = {self.batch_size} must be a multiple of gate_draws = {self.gate_draws}")
        if self.dropout and self.together > 1:
            raise ValueError(
                f"together = {self.together} needs dropout = false: seeds that share a pass would share its dropout; "
                "set together to 1, or dropout to false"
            )
        if self.thresholds and self.discretise == "exact":
            raise ValueError("thresholds need discretise = 'threshold'; remove them, or set it")
        return self

    def rise_at(self, sparsity: float) -> int:
        """Steps over which the target rises to `sparsity`."""
        return self.rise + round(self.rise_per_percent * 100 * sparsity)

    def steps_at(self, sparsity: float) -> int:
        """All steps of a run at `sparsity`."""
        return self.rise_at(sparsity) + self.hold + round(self.hold_per_percent * 100 * sparsity)

    @property
    def pairs_needed(self) -> int:
        """Training pairs whose full-model logits pruning reads."""
        return self.examples + (self.held_out if self.discretise == "threshold" else 0)


class Early(Block):
    """More subnetworks of one early checkpoint, at the high sparsity: is the core there before generalisation?"""

    checkpoint: PositiveInt
    seeds: Annotated[Seeds, Field(min_length=2)]


class Grid(Block):
    """Which subnetworks exist.

    spread: every seed at `mid` and `high` of the last checkpoint; curve: `curve_seeds` at every sparsity of the last
    checkpoint; effective size: the same sparsities at every checkpoint of `checkpoints`; and `early`.
    """

    sparsities: Annotated[list[Sparsity], Field(min_length=1), AfterValidator(_ascending)] = Field(
        description="ascending shares of components removed"
    )
    mid: Sparsity
    high: Sparsity
    seeds: Annotated[Seeds, Field(min_length=2)] = Field(description="pruning seeds of the spread")
    curve_seeds: Annotated[Seeds, Field(min_length=1)]
    checkpoints: Steps
    early: Early | None = None

    @model_validator(mode="after")
    def _inside_the_grid(self):
        for key in ("mid", "high"):
            if (value := getattr(self, key)) not in self.sparsities:
                raise ValueError(
                    f"{key} = {value} is not in sparsities = {self.sparsities}; add it there or choose one of them"
                )
        if self.mid >= self.high:
            raise ValueError(f"mid = {self.mid} must be below high = {self.high}")
        return self


class Analysis(Block):
    """How tables are condensed into findings."""

    subsets: list[str] | None = Field(None, description="subsets that enter group means; default: all")
    margin: Positive = Field(3.0, description="faithful: accuracy above the full model's minus so many points")
    permutations: PositiveInt = Field(10_000, description="of the within-layer null of the core's size")
    control_draws: PositiveInt = Field(
        20, description="random sets of heads per ablated set, matched in layers and number"
    )
    ablation_pairs: PositiveInt | None = Field(
        None, description="ablations are evaluated on the first so many pairs of each subset; default: all"
    )
    attention_pairs: PositiveInt = Field(500, description="evaluation pairs over which attention shares are averaged")
    seed: Seed = Field(0, description="of permutations and control draws")


class Figure(Block):
    """Settings of one figure or table."""

    width: Positive = Field(7.0, description="inches")
    height: Positive | None = Field(None, description="inches; default: chosen by the figure")
    subsets: list[str] | None = Field(None, description="subsets shown, in this order; default: those of the analysis")
    dpi: PositiveInt = Field(200, description="of the PNG")


class Figures(Block):
    figure02: Figure = Figure()
    figure03: Figure = Figure()
    figure04: Figure = Figure()
    figure05: Figure = Figure()
    figure06: Figure = Figure()
    figure09: Figure = Figure()
    figure10: Figure = Figure()
    figure13: Figure = Figure()
    table3: Figure = Figure()
