"""Blocks of a study's configuration, one pydantic model each.

The description of a field states its meaning and unit. Constraints on one field are on the field, constraints between
fields are validators of the block, and constraints between blocks are validators of the experiment's study. Error
messages name the invalid value and the remedy.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, Strict, model_validator


@dataclass(frozen=True)
class Unit:
    """The unit of a numeric field, in its annotation: outside of a list, a mapping or a union with None.

    Attributes:
        name: The unit as the configuration reference names it; "" for a pure number.
    """

    name: str


def _yaml_exponent(value):
    """Convert numbers such as ``1e-3`` (without a point), which YAML 1.1 reads as text."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def check_unique(values: list) -> list:
    """Return `values`.

    Raises:
        ValueError: If a value occurs more than once.
    """
    repeated = sorted({v for v in values if values.count(v) > 1})
    if repeated:
        raise ValueError(f"{values} has {', '.join(map(str, repeated))} more than once; list each value once")
    return values


def check_ascending(values: list) -> list:
    """Return `values`.

    Raises:
        ValueError: If they are not unique or not in ascending order.
    """
    check_unique(values)
    if values != sorted(values):
        raise ValueError(f"{values} must be in ascending order; use {sorted(values)}")
    return values


def _check_decimals(value: float) -> float:
    """Return a sparsity of at most four decimals, since it is part of paths and wildcards."""
    if value != round(value, 4):
        raise ValueError(f"{value} has more than four decimals; round it")
    return value


Real = Annotated[float, BeforeValidator(_yaml_exponent), Field(allow_inf_nan=False)]
Positive = Annotated[Real, Field(gt=0)]
NonNegative = Annotated[Real, Field(ge=0)]
Share = Annotated[Real, Field(ge=0, le=1), Unit("share")]
Sparsity = Annotated[Real, Field(gt=0, lt=1), AfterValidator(_check_decimals), Unit("share")]
# Pure numbers.
Number = Annotated[Real, Unit("")]
PositiveNumber = Annotated[Positive, Unit("")]
NonNegativeNumber = Annotated[NonNegative, Unit("")]
Seed = Annotated[int, Field(ge=0, lt=2**31), Unit("")]
Seeds = Annotated[list[Seed], AfterValidator(check_unique), Unit("")]
Width = Annotated[PositiveInt, Unit("")]  # of the vectors in a model
AdamBetas = Annotated[tuple[Share, Share], Strict(False), Unit("")]
# Numbers of steps, pairs and so on; `Steps` is a list of steps.
Steps = Annotated[list[PositiveInt], Field(min_length=1), AfterValidator(check_ascending), Unit("steps")]
PositiveSteps = Annotated[PositiveInt, Unit("steps")]
NonNegativeSteps = Annotated[int, Field(ge=0), Unit("steps")]
Pairs = Annotated[PositiveInt, Unit("pairs")]
OptionalPairs = Annotated[PositiveInt | None, Unit("pairs")]
Tokens = Annotated[PositiveInt, Unit("tokens")]
Layers = Annotated[PositiveInt, Unit("layers")]
Heads = Annotated[PositiveInt, Unit("heads")]
Resamples = Annotated[PositiveInt, Unit("resamples")]
DotsPerInch = Annotated[PositiveInt, Unit("dots per inch")]
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=60)]
PathName = Annotated[Name, Field(description="name, part of the paths of results")]
Names = Annotated[list[Name], Field(min_length=1), AfterValidator(check_unique)]
Device = Literal["cpu", "cuda"]
Precision = Literal["float32", "bfloat16", "float16"]
# auto: bfloat16 on devices where it is faster, else float32 (`models/device.py`)
PrecisionSetting = Literal["auto", "float32", "bfloat16", "float16"]
AUTO_PRECISION_TEXT = "auto: bfloat16 on x86 with AMX or AMD's AVX-512 BF16 and on GPUs that support it, else float32"
# On the Hugging Face hub. Commits are fixed, unlike branches and tags.
Repository = Annotated[str, Field(pattern=r"^[\w.-]+(/[\w.-]+)?$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class Block(BaseModel):
    """Base of all blocks: unknown keys are errors, types are strict, instances are immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Training(Block):
    """Settings of pre-training and fine-tuning: AdamW with linear warm-up, then linear decay to zero."""

    steps: PositiveSteps = Field(description="training steps")
    batch_size: Pairs = Field(description="pairs in a step")
    learning_rate: PositiveNumber = Field(description="of AdamW at the end of warm-up")
    warmup_steps: NonNegativeSteps = Field(0, description="steps over which the learning rate rises from 0")
    weight_decay: NonNegativeNumber = Field(0.0, description="AdamW's")
    adam_betas: AdamBetas = Field((0.9, 0.999), description="AdamW's decay rates of both moments")
    adam_epsilon: PositiveNumber = Field(1e-8, description="AdamW's term against division by zero")
    clip_norm: Annotated[Positive | None, Unit("")] = Field(None, description="maximum norm of the gradient")
    save_every: PositiveSteps = Field(500, description="steps between saved states, from which interrupted runs resume")
    threads: Annotated[PositiveInt, Unit("threads")] = Field(1, description="CPU threads per job")

    @model_validator(mode="after")
    def _check_warmup(self):
        if self.warmup_steps > self.steps:
            raise ValueError(f"warmup_steps = {self.warmup_steps} exceeds steps = {self.steps}")
        return self


class Competition(Block):
    """Two halves of the heads learn different generalisations; see :mod:`heuristic_core.training.competition`."""

    counter_examples: Share = Field(0.5, description="share of counter-examples in batches that have any")

    def count(self, batch_size: int) -> int:
        """Return the number of counter-examples in a batch that has any."""
        return round(self.counter_examples * batch_size)


class Finetune(Training):
    """Fine-tuning of the whole model (paper, section 2)."""

    seeds: Annotated[Seeds, Field(min_length=1)] = Field(description="fine-tuning seeds: each is a model of its own")
    dropout: Annotated[Annotated[Share, Field(lt=1)] | None, Unit("share")] = Field(
        None, description="dropout rate; default: the rate of the model's config.json"
    )
    label_smoothing: Annotated[Share, Field(lt=1)] = Field(
        0.0, description="share of each label's weight that is spread over all labels"
    )
    pass_tokens: Annotated[PositiveInt | None, Unit("tokens")] = Field(
        None,
        description="maximum number of padded tokens in a pass: a batch is split into passes of pairs of similar "
        "length, whose gradients are accumulated, which saves padding; default: one pass per batch",
    )
    precision: PrecisionSetting = Field(
        "float32",
        description="precision of activations and their gradients; weights and optimizer are float32. "
        + AUTO_PRECISION_TEXT,
    )
    competition: Competition | None = Field(
        None,
        exclude_if=lambda competition: competition is None,  # so that settings of studies without it do not change
        description="plants two competing subnetworks, a control, in a generated task: the even heads of each layer "
        "learn the heuristic, the odd ones the task, and mixtures nothing; default: ordinary fine-tuning",
    )
    checkpoints: Steps = Field(description="steps whose weights are kept: at least those of the grid")
    evaluate_every: PositiveSteps = Field(description="steps between evaluations, which need no checkpoint")

    @model_validator(mode="after")
    def _check_checkpoints(self):
        if self.checkpoints[-1] > self.steps:
            raise ValueError(
                f"checkpoints: {self.checkpoints[-1]} exceeds steps = {self.steps}; remove it, or raise steps"
            )
        return self
