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
        """Relaxation time in steps: deviations from w0 decay by a factor e where the loss is flat."""
        return 2 / (self.step_size * self.localisation)

    @model_validator(mode="after")
    def _check_stability(self):
        if (product := self.step_size * self.localisation) > 1:
            raise ValueError(
                f"step_size x localisation = {product:g} must be at most 1, or steps towards w0 overshoot; with this "
                f"localisation, step_size must be at most {1 / self.localisation:g}"
            )
        return self


class Checks(Block):
    """Checks of the chains of an LLC. If a check fails, the LLC is missing.

    Differences of LLCs are shares of the LLC, or of `least` if the LLC is smaller.
    """

    largest_rise: Annotated[Positive, Unit("nats")] = Field(
        1.0, description="maximum rise of a batch's loss above the loss at w0, nats; beyond it the chain has diverged"
    )
    largest_distance: PositiveNumber = Field(
        1.5,
        description="maximum root mean square distance from w0, in radii of the prior, sqrt(weights / localisation)",
    )
    largest_displacement: PositiveNumber = Field(0.5, description="maximum of the same distance, in norms of w0")
    largest_drift: Annotated[Positive, Unit("share")] = Field(
        0.25, description="maximum difference between the halves of a chain, share of the LLC"
    )
    largest_r_hat: Annotated[Real, Field(gt=1), Unit("")] = Field(
        1.2, description="maximum split R-hat over chains: root of total over within-chain variance"
    )
    largest_step_effect: Annotated[Positive, Unit("share")] = Field(
        0.2, description="maximum effect of half the step size, share of the LLC"
    )
    largest_slide: Annotated[Positive, Unit("share")] = Field(
        1.0,
        description="maximum amount (column `slide`) that the loss's linear term subtracts from an LLC of raw or "
        "scaled, share of the LLC",
    )
    least: PositiveNumber = Field(5.0, description="smallest LLC of which differences are shares")


class LocalLearning(Block):
    """The local learning coefficient by stochastic gradient Langevin dynamics (Lau et al. 2023, arXiv 2308.12108).

    There are three estimators. `raw` walks in the weights themselves, `scaled` in units of the root mean square of each
    weight's tensor at w0. `tilted` is `scaled` with the loss's linear term at w0 subtracted, for a w0 that is not a
    minimum. An estimator that is null is left out. Values with another estimator, n_beta or localisation cannot be
    compared.
    """

    seed: Seed = Field(0, description="seed of batches and noise")
    n_beta: PositiveNumber = Field(1000.0, description="inverse temperature times number of data; multiplies the loss")
    batch_size: Lists = Field(128, description="lists per step")
    burn_in: NonNegativeSteps = Field(
        100, description="steps before the first draw; twice as many at half the step size"
    )
    draws: Annotated[int, Field(ge=4), Unit("steps")] = Field(200, description="steps per chain whose loss is averaged")
    chains: Annotated[int, Field(ge=2), Unit("chains")] = Field(
        2, description="number of independent chains, each with its own batches"
    )
    half_step_chains: Annotated[int, Field(ge=0), Unit("chains")] = Field(
        1, description="number of further chains at half the step size; 0: the effect of the step size is not checked"
    )
    raw: Langevin | None = Langevin(step_size=1e-6, localisation=1e5)
    scaled: Langevin | None = Langevin(step_size=1e-3, localisation=100.0)
    tilted: Langevin | None = Langevin(step_size=1e-3, localisation=100.0)
    scale_floor: PositiveNumber = Field(
        0.01, description="lower bound of the unit of a tensor's weights, for tensors near zero"
    )
    gradient_examples: Lists = Field(
        8192, description="number of lists for the loss and its gradient at w0, the linear term of tilted"
    )
    checks: Checks = Checks()

    @property
    def estimators(self) -> dict[str, Langevin]:
        """Settings of the estimators in use, by name."""
        settings = {name: getattr(self, name) for name in ("raw", "scaled", "tilted")}
        return {name: langevin for name, langevin in settings.items() if langevin is not None}

    @model_validator(mode="after")
    def _check_burn_in(self):
        if not self.estimators:
            raise ValueError("raw, scaled and tilted are all null; set at least one of them")
        for name, langevin in self.estimators.items():
            if self.burn_in < langevin.relaxation:
                raise ValueError(
                    f"burn_in = {self.burn_in} is less than the relaxation time of {name}, {langevin.relaxation:.0f} "
                    f"steps (2 / (step_size x localisation)); raise burn_in or {name}.step_size"
                )
        return self


class Stages(Block):
    """Change points of curves over log steps, and the stages that follow from them."""

    seed: Seed = Field(0, description="seed of the resamples")
    knots: Annotated[int, Field(ge=1, le=3), Unit("change points")] = Field(
        3, description="maximum number of change points of a curve"
    )
    evidence: NonNegativeNumber = Field(
        2.0, description="the fit has the fewest knots among those whose BIC exceeds the lowest by at most this"
    )
    resolution: Annotated[Real, Field(gt=0, lt=1), Unit("share")] = Field(
        0.01, description="a fit counts as exact within this share of a curve's range"
    )
    flat: Annotated[Real, Field(gt=0, lt=1), Unit("share")] = Field(
        0.5, description="a segment is flat if its slope is below this share of that of an evenly changing curve"
    )
    bootstrap: Resamples = Field(1000, description="number of resamples of seeds for intervals")
