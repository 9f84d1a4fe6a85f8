"""Configuration of the grid of subnetworks. See :mod:`heuristic_core.config.blocks`."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from heuristic_core.config.blocks import Block, PositiveSteps, Seeds, Sparsity, Steps, Unit, check_ascending


class Early(Block):
    """Further subnetworks of one early checkpoint at the high sparsity: does the core exist before generalisation?"""

    checkpoint: PositiveSteps = Field(description="the step of the early checkpoint")
    seeds: Annotated[Seeds, Field(min_length=2)] = Field(
        description="pruning seeds at this checkpoint; use other seeds than `grid.seeds`: runs of one seed share "
        "batches and noise, so the claim leaves out late runs of the same seeds"
    )


class Grid(Block):
    """Grid of subnetworks.

    It consists of the spread (every seed at `mid` and `high` of the last checkpoint), the curve (`curve_seeds` at every
    sparsity of the last checkpoint), the effective size (the same at every checkpoint of `checkpoints`), `early` and
    `repeats`.
    """

    sparsities: Annotated[list[Sparsity], Field(min_length=1), AfterValidator(check_ascending), Unit("share")] = Field(
        description="shares of components to remove, ascending"
    )
    mid: Sparsity = Field(description="the lower of the two sparsities of the spread")
    high: Sparsity = Field(description="the higher of the two")
    seeds: Annotated[Seeds, Field(min_length=2)] = Field(description="pruning seeds of the spread")
    curve_seeds: Annotated[Seeds, Field(min_length=1)] = Field(
        description="pruning seeds of curves and of effective size"
    )
    checkpoints: Steps = Field(description="steps whose subnetworks give effective size; the last is the last kept one")
    early: Early | None = None
    repeats: Seeds = Field(
        [],
        description="seeds (of `seeds`) with a second run at mid and high of the last checkpoint, in a pass of its own",
    )

    @model_validator(mode="after")
    def _check_membership(self):
        for key in ("mid", "high"):
            if (value := getattr(self, key)) not in self.sparsities:
                raise ValueError(
                    f"{key} = {value} is not in sparsities = {self.sparsities}; add it, or choose one of them"
                )
        if self.mid >= self.high:
            raise ValueError(f"mid = {self.mid} must be below high = {self.high}")
        if unknown := [seed for seed in self.repeats if seed not in self.seeds]:
            raise ValueError(f"repeats: {unknown[0]} is not in seeds = {self.seeds}; repeats must be a subset of seeds")
        return self
