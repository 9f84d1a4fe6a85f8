"""The pruning block of a study's configuration; see :mod:`heuristic_core.config.blocks` for its conventions."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from heuristic_core.config.blocks import (
    AUTO_PRECISION_TEXT,
    Block,
    NonNegative,
    NonNegativeNumber,
    NonNegativeSteps,
    Number,
    OptionalPairs,
    Pairs,
    PositiveNumber,
    PositiveSteps,
    PrecisionSetting,
    Share,
    Sparsity,
    Unit,
)

StepsPerPercent = Annotated[NonNegative, Unit("steps per percent")]
GateDraws = Annotated[PositiveInt, Unit("samples")]

THRESHOLD_TOLERANCE = 0.05  # by how much a chosen threshold may miss the target sparsity


class Gates(Block):
    """How hard-concrete gates are learned under a controller of their sparsity, whatever the model."""

    rise: NonNegativeSteps = Field(description="steps over which the target sparsity rises linearly from 0")
    rise_per_percent: StepsPerPercent = Field(0.0, description="further such steps for each percent of sparsity")
    hold: NonNegativeSteps = Field(description="steps after that, at the full target")
    hold_per_percent: StepsPerPercent = Field(0.0, description="further such steps for each percent of sparsity")
    batch_size: Annotated[PositiveInt, Unit("examples")] = Field(description="training examples per step")
    gate_draws: GateDraws = Field(
        1,
        description="gate samples per step, among which the batch is divided evenly; "
        "the released code draws for each of 4 micro-batches of 32",
    )
    log_alpha_mean: Number = Field(10.0, description="mean of log_alpha at the start")
    log_alpha_std: NonNegativeNumber = Field(0.01, description="standard deviation of log_alpha at the start")
    learning_rate: PositiveNumber = Field(0.1, description="of log_alpha (descent)")
    controller_learning_rate: PositiveNumber = Field(1.0, description="of lambda_1 and lambda_2 (ascent)")
    weight_decay: NonNegativeNumber = Field(
        0.0, description="AdamW's on log_alpha: pulls it to 0 without any gradient; the released code has 0.01"
    )
    controller_weight_decay: NonNegativeNumber = Field(
        0.0, description="AdamW's on the lambdas; the released code has 0.01"
    )
    warmup_steps: NonNegativeSteps = Field(200, description="steps over which the learning rates warm up")
    decay: Literal["after-warmup", "from-start"] = Field(
        "after-warmup",
        description="when the linear decay of the learning rates to 0 begins; the released code: after-warmup",
    )
    controller: Literal["sampled", "expected"] = Field(
        "sampled",
        description="the sparsity that the controller steers: of the sampled gates (released code) or expected (CoFi); "
        "the expected one has next to no gradient at log_alpha = 10, so start lower with it",
    )

    @model_validator(mode="after")
    def _draws_share_a_batch(self):
        if self.batch_size % self.gate_draws:
            raise ValueError(f"batch_size = {self.batch_size} must be a multiple of gate_draws = {self.gate_draws}")
        return self

    def rise_steps(self, sparsity: float) -> int:
        """Steps over which the target rises to `sparsity`."""
        return self.rise + round(self.rise_per_percent * 100 * sparsity)

    def total_steps(self, sparsity: float) -> int:
        """All steps of a run at `sparsity`."""
        return self.rise_steps(sparsity) + self.hold + round(self.hold_per_percent * 100 * sparsity)


class Prune(Gates):
    """Structured pruning with hard-concrete gates (paper, section 2 and appendix B).

    Where the paper's released code does otherwise than its text or than CoFi, both ways are settings:
    `config/paper-*.yaml` have the text's, `config/pruning/as-published.yaml` what that code did, and
    `config/pruning/own-choices.yaml` this project's defaults at the paper's scale.
    """

    batch_size: Pairs = Field(description="training examples per step")
    dropout: bool = Field(
        False, description="dropout in the gated model, at the rates of its config.json; the released code: true"
    )
    discretise: Literal["exact", "threshold"] = Field(
        "exact",
        description="keep exactly k = round((1 - sparsity) N) components of largest log_alpha, or by the paper's rule: "
        "layer by layer, then above a threshold",
    )
    thresholds: Annotated[dict[Sparsity, Annotated[Share, Field(lt=1)]], Unit("share")] = Field(
        {}, description="thresholds set by hand; for other sparsities chosen by `threshold_rule`"
    )
    threshold_rule: Literal["faithful", "nearest"] = Field(
        "faithful",
        description="which threshold a run takes: the one whose subnetwork diverges least from the full model on "
        f"`held_out` training pairs, of those that keep at most {THRESHOLD_TOLERANCE} more than the target leaves "
        "(so it favours dense masks), or the one whose sparsity is nearest to the target (the paper)",
    )
    held_out: Pairs = Field(
        500, description="training pairs after the first `examples`, on which a faithful threshold is chosen"
    )
    precision: PrecisionSetting = Field(
        "float32",
        description="of the frozen model; gates, losses and the optimizer are float32. " + AUTO_PRECISION_TEXT,
    )
    save_every: PositiveSteps = Field(
        50, description="steps between saved states, from which an interrupted run resumes"
    )
    together: Annotated[PositiveInt, Unit("seeds")] = Field(
        1,
        description="at most this number of pruning seeds share one pass, and so one job: faster for small models (and "
        "on a GPU that one run does not fill), but they are also rerun together",
    )
    engine: Literal["eager", "graphs", "compile"] = Field(
        "eager",
        description="how a GPU is given a pass: operation by operation, as CUDA graphs of passes of fixed shapes, or "
        "as such graphs of compiled passes; a CPU can run eager and compiled passes",
        exclude_if=lambda engine: engine == "eager",  # settings of studies without it remain what they were
    )
    examples: OptionalPairs = Field(
        None, description="pruning draws from this number of training pairs, the first; default: all but those held out"
    )
    mean_examples: OptionalPairs = Field(
        None, description="component means come from this number of training pairs, the first; default: all"
    )

    @model_validator(mode="after")
    def _consistent(self):
        if self.dropout and self.together > 1:
            raise ValueError(
                f"together = {self.together} needs dropout = false: seeds that share a pass would share its dropout; "
                "set together to 1, or dropout to false"
            )
        if self.dropout and self.engine != "eager":
            raise ValueError(
                f"engine = {self.engine!r} needs dropout = false: a replayed pass would replay its dropout, too; set "
                "engine = 'eager', or dropout = false"
            )
        if self.thresholds and self.discretise == "exact":
            raise ValueError("thresholds need discretise = 'threshold'; remove them, or set it")
        if self.threshold_rule == "nearest" and self.discretise == "exact":
            raise ValueError("threshold_rule = 'nearest' needs discretise = 'threshold'; remove it, or set this")
        return self

    @property
    def pairs_held_out(self) -> int:
        """Training pairs on which a threshold is chosen, after those that pruning draws from."""
        return self.held_out if self.discretise == "threshold" and self.threshold_rule == "faithful" else 0

    @property
    def pairs_needed(self) -> int | None:
        """Training pairs whose full-model logits pruning reads; None: all."""
        return None if self.examples is None else self.examples + self.pairs_held_out
