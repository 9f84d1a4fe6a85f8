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


def unique(values: list) -> list:
    repeated = sorted({v for v in values if values.count(v) > 1})
    if repeated:
        raise ValueError(f"{values} has {', '.join(map(str, repeated))} more than once; list every value once")
    return values


def ascending(values: list) -> list:
    unique(values)
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
Seeds = Annotated[list[Seed], AfterValidator(unique)]
Steps = Annotated[list[PositiveInt], Field(min_length=1), AfterValidator(ascending)]
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
    labels: Annotated[list[str], AfterValidator(unique)] = Field(
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


class Early(Block):
    """More subnetworks of one early checkpoint, at the high sparsity: is the core there before generalisation?"""

    checkpoint: PositiveInt
    seeds: Annotated[Seeds, Field(min_length=2)]


class Grid(Block):
    """Which subnetworks exist.

    spread: every seed at `mid` and `high` of the last checkpoint; curve: `curve_seeds` at every sparsity of the last
    checkpoint; effective size: the same sparsities at every checkpoint of `checkpoints`; `early`; and `repeats`.
    """

    sparsities: Annotated[list[Sparsity], Field(min_length=1), AfterValidator(ascending)] = Field(
        description="ascending shares of components removed"
    )
    mid: Sparsity
    high: Sparsity
    seeds: Annotated[Seeds, Field(min_length=2)] = Field(description="pruning seeds of the spread")
    curve_seeds: Annotated[Seeds, Field(min_length=1)]
    checkpoints: Steps
    early: Early | None = None
    repeats: Seeds = Field(
        [], description="of seeds, those that run a second time, by themselves, at mid and high of the last checkpoint"
    )

    @model_validator(mode="after")
    def _inside_the_grid(self):
        for key in ("mid", "high"):
            if (value := getattr(self, key)) not in self.sparsities:
                raise ValueError(
                    f"{key} = {value} is not in sparsities = {self.sparsities}; add it there or choose one of them"
                )
        if self.mid >= self.high:
            raise ValueError(f"mid = {self.mid} must be below high = {self.high}")
        if unknown := [seed for seed in self.repeats if seed not in self.seeds]:
            raise ValueError(f"repeats: {unknown[0]} is not in seeds = {self.seeds}; only these can run again")
        return self
