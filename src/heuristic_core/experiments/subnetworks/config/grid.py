"""Configuration of the grid of subnetworks. See :mod:`heuristic_core.config.blocks`."""

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from heuristic_core.config.blocks import Block, PositiveSteps, Seeds, Sparsity, Steps, Unit, check_ascending


class Early(Block):
    """Further subnetworks of one early checkpoint at the high sparsity: does the core exist before generalisation?"""

    checkpoint: PositiveSteps = Field(description="the step of the early checkpoint")
    seeds: Annotated[Seeds, Field(min_length=2)] = Field(
        description="pruning seeds there; others than `grid.seeds`, as runs of one seed share batches and noise: the "
        "claim leaves late runs of these seeds out"
    )


class Grid(Block):
    """Grid of subnetworks.

    spread: every seed at `mid` and `high` of the last checkpoint; curve: `curve_seeds` at every sparsity of the last
    checkpoint; effective size: the same sparsities at every checkpoint of `checkpoints`; `early`; and `repeats`.
    """

    sparsities: Annotated[list[Sparsity], Field(min_length=1), AfterValidator(check_ascending), Unit("share")] = Field(
        description="ascending shares of components removed"
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
