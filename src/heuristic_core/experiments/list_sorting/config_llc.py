"""The settings of the local learning coefficient (LLC), of its chains' checks, and of stages."""

from typing import Annotated

from pydantic import Field, model_validator

from heuristic_core.config.blocks import (
    Block,
    NonNegativeNumber,
    NonNegativeSteps,
    Positive,
    PositiveNumber,
    Real,
    Resamples,
    Seed,
    Unit,
)
from heuristic_core.experiments.list_sorting.config import Lists


class Langevin(Block):
    """One estimator's chain: w <- w - step_size / 2 (n_beta grad L + localisation (w - w0)) + normal(0, step_size)."""

    step_size: PositiveNumber = Field(description="variance of a step's noise, in squared units of the coordinates")
    localisation: PositiveNumber = Field(
        description="precision of the normal prior about w0, in inverse squared units of the coordinates"
    )

    @property
    def relaxation(self) -> float:
        """Steps in which a direction without loss forgets its start, by a factor e."""
        return 2 / (self.step_size * self.localisation)

    @model_validator(mode="after")
    def _prior_is_stable(self):
        if (product := self.step_size * self.localisation) > 1:
            raise ValueError(
                f"step_size x localisation = {product:g} must be at most 1, else the pull back to w0 overshoots; "
                f"with this localisation, step_size must be at most {1 / self.localisation:g}"
            )
        return self


class Checks(Block):
    """What the chains behind an LLC must show; where they do not, the LLC is missing.

    Differences of LLCs are shares of the LLC, or of `least` where the LLC is smaller.
    """

    largest_rise: Annotated[Positive, Unit("nats")] = Field(
        1.0, description="nats that the loss of a batch may exceed the loss at w0 by; beyond, the chain has diverged"
    )
    largest_distance: PositiveNumber = Field(
        1.5, description="root mean square distance from w0, in radii of the prior: sqrt(weights / localisation)"
    )
    largest_displacement: PositiveNumber = Field(0.5, description="the same distance, in norms of w0")
    largest_drift: Annotated[Positive, Unit("share")] = Field(
        0.25, description="difference between the halves of a chain, share of the LLC"
    )
    largest_r_hat: Annotated[Real, Field(gt=1), Unit("")] = Field(
        1.2, description="split R-hat over chains: root of total over within-chain variance"
    )
    largest_step_effect: Annotated[Positive, Unit("share")] = Field(
        0.2, description="difference that half the step size makes, share of the LLC"
    )
    largest_slide: Annotated[Positive, Unit("share")] = Field(
        1.0,
        description="what the loss's linear term may take from an LLC of raw or scaled, which keep this term, share of "
        "the LLC: column `slide`",
    )
    least: PositiveNumber = Field(5.0, description="LLC below which differences are shares of this LLC")


class LocalLearning(Block):
    """The local learning coefficient by stochastic gradient Langevin dynamics (Lau et al. 2023, arXiv 2308.12108).

    raw: in the weights themselves. scaled: every weight in units of the root mean square of its tensor at w0.
    tilted: scaled, with the loss's linear term at w0 subtracted, for a w0 that is no minimum. An estimator that is
    null is left out. Values of different estimators, n_beta or localisation do not compare: none is absolute.
    """

    seed: Seed = Field(0, description="of batches and noise")
    n_beta: PositiveNumber = Field(1000.0, description="inverse temperature times number of data; multiplies the loss")
    batch_size: Lists = Field(128, description="lists in a step's batch")
    burn_in: NonNegativeSteps = Field(100, description="steps before the first draw; twice that at half the step size")
    draws: Annotated[int, Field(ge=4), Unit("steps")] = Field(
        200, description="steps whose loss enters the mean, per chain"
    )
    chains: Annotated[int, Field(ge=2), Unit("chains")] = Field(
        2, description="independent chains, each with batches of its own"
    )
    half_step_chains: Annotated[int, Field(ge=0), Unit("chains")] = Field(
        1, description="further chains at half the step size; 0: the effect of the step size is not checked"
    )
    raw: Langevin | None = Langevin(step_size=1e-6, localisation=1e5)
    scaled: Langevin | None = Langevin(step_size=1e-3, localisation=100.0)
    tilted: Langevin | None = Langevin(step_size=1e-3, localisation=100.0)
    scale_floor: PositiveNumber = Field(0.01, description="smallest unit of a tensor's weights, for tensors near zero")
    gradient_examples: Lists = Field(
        8192, description="lists behind the loss and its gradient at w0, the linear term of tilted"
    )
    checks: Checks = Checks()

    @property
    def estimators(self) -> dict[str, Langevin]:
        """Settings of the estimators in use, by name."""
        settings = {name: getattr(self, name) for name in ("raw", "scaled", "tilted")}
        return {name: langevin for name, langevin in settings.items() if langevin is not None}

    @model_validator(mode="after")
    def _chains_can_settle(self):
        if not self.estimators:
            raise ValueError("raw, scaled and tilted are all null; give at least one of them")
        for name, langevin in self.estimators.items():
            if self.burn_in < langevin.relaxation:
                raise ValueError(
                    f"burn_in = {self.burn_in} is shorter than {langevin.relaxation:.0f} steps, in which a chain of "
                    f"{name} forgets its start (2 / (step_size x localisation)); raise burn_in or {name}.step_size"
                )
        return self


class Stages(Block):
    """Change points of curves over log steps, and the stages that follow from them."""

    seed: Seed = Field(0, description="of the resamples")
    knots: Annotated[int, Field(ge=1, le=3), Unit("change points")] = Field(
        3, description="most change points of a curve"
    )
    evidence: NonNegativeNumber = Field(
        2.0, description="of the fits whose BIC is at most this above the lowest, that with the fewest knots is taken"
    )
    resolution: Annotated[Real, Field(gt=0, lt=1), Unit("share")] = Field(
        0.01, description="a fit within this share of a curve's range is exact"
    )
    flat: Annotated[Real, Field(gt=0, lt=1), Unit("share")] = Field(
        0.5, description="a segment is flat below this share of the slope of a curve that changes evenly throughout"
    )
    bootstrap: Resamples = Field(1000, description="resamples of the seeds behind every interval")
