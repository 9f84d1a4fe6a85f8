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

THRESHOLD_TOLERANCE = 0.05  # maximum deviation of a chosen threshold from the target sparsity


class Gates(Block):
    """Learning of hard-concrete gates with a controller of their sparsity, for any model."""

    rise: NonNegativeSteps = Field(description="steps over which the target sparsity rises linearly from 0")
    rise_per_percent: StepsPerPercent = Field(0.0, description="additional steps for each percent of sparsity")
    hold: NonNegativeSteps = Field(description="steps at the full target, after the rise")
    hold_per_percent: StepsPerPercent = Field(0.0, description="additional steps for each percent of sparsity")
    batch_size: Annotated[PositiveInt, Unit("examples")] = Field(description="training examples per step")
    gate_draws: GateDraws = Field(
        1,
        description="gate samples per step; each gets an equal part of the batch; the released code: 4 (32 examples "
        "each)",
    )
    log_alpha_mean: Number = Field(10.0, description="initial mean of log_alpha")
    log_alpha_std: NonNegativeNumber = Field(0.01, description="standard deviation of log_alpha at the start")
    learning_rate: PositiveNumber = Field(0.1, description="of log_alpha (descent)")
    controller_learning_rate: PositiveNumber = Field(1.0, description="of lambda_1 and lambda_2 (ascent)")
    weight_decay: NonNegativeNumber = Field(
        0.0, description="weight decay of log_alpha (AdamW); the released code: 0.01"
    )
    controller_weight_decay: NonNegativeNumber = Field(
        0.0, description="weight decay of the multipliers (AdamW); the released code: 0.01"
    )
    warmup_steps: NonNegativeSteps = Field(200, description="steps over which the learning rates warm up")
    decay: Literal["after-warmup", "from-start"] = Field(
        "after-warmup",
        description="start of the linear decay of the learning rates to 0; the released code: after-warmup",
    )
    controller: Literal["sampled", "expected"] = Field(
        "sampled",
        description="sparsity that the controller uses: of the sampled gates (released code) or expected (CoFi); the "
        "expected one has hardly any gradient at log_alpha = 10 and needs a lower log_alpha_mean",
    )

    @model_validator(mode="after")
    def _check_gate_draws(self):
        if self.batch_size % self.gate_draws:
            raise ValueError(f"batch_size = {self.batch_size} must be a multiple of gate_draws = {self.gate_draws}")
        return self

    def rise_steps(self, sparsity: float) -> int:
        """Return the number of steps over which the target rises to `sparsity`."""
        return self.rise + round(self.rise_per_percent * 100 * sparsity)

    def total_steps(self, sparsity: float) -> int:
        """Return the number of steps of a run at `sparsity`."""
        return self.rise_steps(sparsity) + self.hold + round(self.hold_per_percent * 100 * sparsity)


class Prune(Gates):
    """Structured pruning with hard-concrete gates (paper, section 2 and appendix B).

    Differences between the paper's text, its released code and CoFi are settings: `config/paper-*.yaml` follow the
    text, `config/pruning/as-published.yaml` the code, and `config/pruning/own-choices.yaml` has this project's
    defaults at the paper's scale.
    """

    batch_size: Pairs = Field(description="training examples per step")
    dropout: bool = Field(
        False, description="dropout in the gated model, at the rates of its config.json; the released code: true"
    )
    discretise: Literal["exact", "threshold"] = Field(
        "exact",
        description="components to keep: exactly k = round((1 - sparsity) N) with the largest log_alpha, or those "
        "above a threshold, layer by layer (the paper)",
    )
    thresholds: Annotated[dict[Sparsity, Annotated[Share, Field(lt=1)]], Unit("share")] = Field(
        {}, description="fixed thresholds by sparsity; others are chosen by `threshold_rule`"
    )
    threshold_rule: Literal["faithful", "nearest"] = Field(
        "faithful",
        description="choice of the threshold. faithful: lowest divergence from the full model on `held_out` training "
        f"pairs, among thresholds that keep at most {THRESHOLD_TOLERANCE} more than the target, which favours dense "
        "masks. nearest: sparsity nearest to the target (the paper)",
    )
    held_out: Pairs = Field(
        500, description="training pairs for the choice of a faithful threshold, after the first `examples`"
    )
    precision: PrecisionSetting = Field(
        "float32",
        description="precision of the frozen model; gates, losses and optimizer are float32. " + AUTO_PRECISION_TEXT,
    )
    save_every: PositiveSteps = Field(50, description="steps between saved states, from which interrupted runs resume")
    together: Annotated[PositiveInt, Unit("runs")] = Field(
        1,
        description="maximum number of pruning runs, of any sparsity and seed, in one pass and job: faster for small "
        "models and on GPUs that one run does not fill, but these runs are also rerun together",
    )
    engine: Literal["eager", "graphs", "compile"] = Field(
        "eager",
        description="execution of a pass: operation by operation, as CUDA graphs of passes of fixed shapes, or as such "
        "graphs of compiled passes; a CPU supports eager and compile",
        exclude_if=lambda engine: engine == "eager",  # so that study.json of studies without it does not change
    )
    examples: OptionalPairs = Field(
        None, description="number of training pairs, the first, to draw batches from; default: all but those held out"
    )
    mean_examples: OptionalPairs = Field(
        None, description="number of training pairs, the first, for component means; default: all"
    )

    @model_validator(mode="after")
    def _check_combinations(self):
        if self.dropout and self.together > 1:
            raise ValueError(
                f"together = {self.together} needs dropout = false: runs that share a pass would share its dropout; "
                "set together to 1, or dropout to false"
            )
        if self.dropout and self.engine != "eager":
            raise ValueError(
                f"engine = {self.engine!r} needs dropout = false: a replayed pass would also replay its dropout; set "
                "engine = 'eager', or dropout = false"
            )
        if self.thresholds and self.discretise == "exact":
            raise ValueError("thresholds need discretise = 'threshold'; set it, or remove thresholds")
        if self.threshold_rule == "nearest" and self.discretise == "exact":
            raise ValueError(
                "threshold_rule = 'nearest' needs discretise = 'threshold'; set it, or remove threshold_rule"
            )
        return self

    @property
    def pairs_held_out(self) -> int:
        """Number of training pairs held out for the choice of a threshold."""
        return self.held_out if self.discretise == "threshold" and self.threshold_rule == "faithful" else 0

    @property
    def pairs_needed(self) -> int | None:
        """Number of training pairs whose full-model logits pruning reads; None for all."""
        return None if self.examples is None else self.examples + self.pairs_held_out
