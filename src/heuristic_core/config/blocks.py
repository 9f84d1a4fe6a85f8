"""Blocks of a study's configuration, one pydantic model each.

The description of a field states its meaning and unit. Constraints on one field are on the field, constraints between
fields are validators of the block, and constraints between blocks are validators of the experiment's study. Error
messages name the invalid value and the remedy.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, model_validator


def _yaml_exponent(value):
    """Convert numbers such as ``1e-3`` (without a point), which YAML 1.1 reads as text."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def check_unique(values: list) -> list:
    """Return `values`, which must be unique."""
    repeated = sorted({v for v in values if values.count(v) > 1})
    if repeated:
        raise ValueError(f"{values} has {', '.join(map(str, repeated))} more than once; list each value once")
    return values


def check_ascending(values: list) -> list:
    """Return `values`, which must be unique and in ascending order."""
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
Share = Annotated[Real, Field(ge=0, le=1)]
Sparsity = Annotated[Real, Field(gt=0, lt=1), AfterValidator(_check_decimals)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]
Seeds = Annotated[list[Seed], AfterValidator(check_unique)]
Steps = Annotated[list[PositiveInt], Field(min_length=1), AfterValidator(check_ascending)]
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=60)]
Names = Annotated[list[Name], Field(min_length=1), AfterValidator(check_unique)]
Device = Literal["cpu", "cuda"]
Precision = Literal["float32", "bfloat16", "float16"]
# auto: bfloat16 on devices that support it, else float32 (`models/device.py`)
PrecisionSetting = Literal["auto", "float32", "bfloat16", "float16"]
AUTO_PRECISION_TEXT = "auto: bfloat16 on x86 with AVX-512 BF16 or AMX and on GPUs that support it, else float32"
# On the Hugging Face hub. Commits are fixed, unlike branches and tags.
Repository = Annotated[str, Field(pattern=r"^[\w.-]+(/[\w.-]+)?$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class Block(BaseModel):
    """Base of all blocks: unknown keys are errors, types are strict, instances are immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Training(Block):
    """Settings of pre-training and fine-tuning: AdamW with linear warm-up, then linear decay to zero."""

    steps: PositiveInt
    batch_size: PositiveInt = Field(description="pairs")
    learning_rate: Positive
    warmup_steps: Annotated[int, Field(ge=0)] = 0
    weight_decay: NonNegative = 0.0
    adam_betas: tuple[Share, Share] = Field((0.9, 0.999), strict=False)
    adam_epsilon: Positive = 1e-8
    clip_norm: Positive | None = Field(None, description="maximum norm of the gradient")
    save_every: PositiveInt = Field(500, description="steps between saved states, from which interrupted runs resume")
    threads: PositiveInt = Field(1, description="CPU threads per job")

    @model_validator(mode="after")
    def _check_warmup(self):
        if self.warmup_steps > self.steps:
            raise ValueError(f"warmup_steps = {self.warmup_steps} exceeds steps = {self.steps}")
        return self


class Finetune(Training):
    """Fine-tuning of the whole model (paper, section 2)."""

    seeds: Annotated[Seeds, Field(min_length=1)]
    dropout: Annotated[Share, Field(lt=1)] | None = Field(
        None, description="default: the rate of the model's config.json"
    )
    label_smoothing: Annotated[Share, Field(lt=1)] = 0.0
    pass_tokens: PositiveInt | None = Field(
        None,
        description="maximum number of padded tokens in a pass: a batch is split into passes of pairs of similar "
        "length, whose gradients are accumulated, which saves padding; default: one pass per batch",
    )
    precision: PrecisionSetting = Field(
        "float32",
        description="precision of activations and their gradients; weights and optimizer are float32. "
        + AUTO_PRECISION_TEXT,
    )
    checkpoints: Steps = Field(description="steps whose weights are kept: at least those of the grid")
    evaluate_every: PositiveInt = Field(description="steps between evaluations, which need no checkpoint")

    @model_validator(mode="after")
    def _check_checkpoints(self):
        if self.checkpoints[-1] > self.steps:
            raise ValueError(
                f"checkpoints: {self.checkpoints[-1]} exceeds steps = {self.steps}; remove it, or raise steps"
            )
        return self
