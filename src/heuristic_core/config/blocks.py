"""The blocks of a study's configuration, one pydantic model each.

Every field states its meaning and unit; limits that concern one field are on the field, limits that tie several fields
together are in a validator of the block, or of an experiment's study where they tie blocks together. A message says
which value is wrong and what would be right.
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


def check_unique(values: list) -> list:
    """Return `values`. Raises ValueError if a value is repeated."""
    repeated = sorted({v for v in values if values.count(v) > 1})
    if repeated:
        raise ValueError(f"{values} has {', '.join(map(str, repeated))} more than once; list every value once")
    return values


def check_ascending(values: list) -> list:
    """Return `values`. Raises ValueError unless they are unique and in ascending order."""
    check_unique(values)
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
Seeds = Annotated[list[Seed], AfterValidator(check_unique)]
Steps = Annotated[list[PositiveInt], Field(min_length=1), AfterValidator(check_ascending)]
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=60)]
Names = Annotated[list[Name], Field(min_length=1), AfterValidator(check_unique)]
Device = Literal["cpu", "cuda"]
Precision = Literal["float32", "bfloat16", "float16"]
# auto: bfloat16 where what a job runs on multiplies in it, float32 elsewhere (`models/device.py`)
PrecisionSetting = Literal["auto", "float32", "bfloat16", "float16"]
AUTO_PRECISION_TEXT = "auto: bfloat16 on x86 with AVX-512 BF16 or AMX and on a GPU that multiplies in it, else float32"
# On the Hugging Face hub. A branch or a tag can come to name something else; a commit cannot.
Repository = Annotated[str, Field(pattern=r"^[\w.-]+(/[\w.-]+)?$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class Block(BaseModel):
    """Base of all blocks: unknown keys are errors, types are strict, instances are immutable."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Training(Block):
    """What pre-training and fine-tuning have in common: AdamW with linear warm-up, then linear decay to zero."""

    steps: PositiveInt
    batch_size: PositiveInt = Field(description="pairs")
    learning_rate: Positive
    warmup_steps: Annotated[int, Field(ge=0)] = 0
    weight_decay: NonNegative = 0.0
    adam_betas: tuple[Share, Share] = Field((0.9, 0.999), strict=False)
    adam_epsilon: Positive = 1e-8
    clip_norm: Positive | None = Field(None, description="largest gradient norm")
    save_every: PositiveInt = Field(
        500, description="steps between saved states, from which an interrupted run resumes"
    )
    threads: PositiveInt = Field(1, description="CPU threads of one job")

    @model_validator(mode="after")
    def _warms_up_inside(self):
        if self.warmup_steps > self.steps:
            raise ValueError(f"warmup_steps = {self.warmup_steps} exceeds steps = {self.steps}")
        return self


class Finetune(Training):
    """Fine-tuning of the whole model (paper, section 2)."""

    seeds: Annotated[Seeds, Field(min_length=1)]
    dropout: Annotated[Share, Field(lt=1)] | None = Field(None, description="default: what the model's config says")
    label_smoothing: Annotated[Share, Field(lt=1)] = 0.0
    pass_tokens: PositiveInt | None = Field(
        None,
        description="a batch is cut into passes of pairs of like length, of at most this number of padded tokens, "
        "whose gradients add up: gradient accumulation to batch_size, and less padding; default: the batch in one pass",
    )
    precision: PrecisionSetting = Field(
        "float32",
        description="of activations and their gradients; weights and the optimizer are float32. " + AUTO_PRECISION_TEXT,
    )
    checkpoints: Steps = Field(description="steps whose weights are kept; those that the grid prunes suffice")
    evaluate_every: PositiveInt = Field(description="steps between evaluations in passing, which keep no weights")

    @model_validator(mode="after")
    def _inside_the_run(self):
        if self.checkpoints[-1] > self.steps:
            raise ValueError(
                f"checkpoints: {self.checkpoints[-1]} is beyond the last step; "
                f"list steps from 1 to steps = {self.steps}, or raise steps"
            )
        return self
