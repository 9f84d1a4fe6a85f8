"""The settings of pruning heads' QK and OV halves."""

from typing import Annotated

from pydantic import Field

from heuristic_core.config.blocks import (
    Block,
    Names,
    NonNegativeSteps,
    Number,
    Positive,
    PositiveNumber,
    Seeds,
    Sparsity,
    Unit,
)
from heuristic_core.config.pruning import GateDraws, Gates
from heuristic_core.experiments.list_sorting.config import Checkpoints, Lists
from heuristic_core.models.components import kept_count


class HalfGates(Gates):
    """Learning of gates, as in the block `prune` of the heuristic core.

    The defaults are for few components. With learning rates of the multipliers more than ten times as high, gates often
    kept halves of different heads, which do little alone.
    """

    rise: NonNegativeSteps = Field(300, description="steps over which the target sparsity rises linearly from 0")
    hold: NonNegativeSteps = Field(200, description="steps at the full target, after the rise")
    batch_size: Lists = Field(32, description="lists per step")
    gate_draws: GateDraws = Field(4, description="gate samples per step; each gets an equal part of the batch")
    log_alpha_mean: Number = Field(4.0, description="initial mean of log_alpha")
    controller_learning_rate: PositiveNumber = Field(0.03, description="of lambda_1 and lambda_2 (ascent)")
    warmup_steps: NonNegativeSteps = Field(20, description="steps over which the learning rates warm up")


class PruneRuns(Block):
    """Pruning of halves of heads: all subsets at every kept checkpoint, and subsets that gates learn.

    A subset is faithful if it loses less than `margin`, or diverges by at most `kl`, as in studies of the heuristic
    core. Effective size is the size of the smallest faithful subset.
    """

    conditions: Names | None = Field(None, description="conditions; default: all")
    checkpoints: Checkpoints = Field(
        4, description="number of checkpoints at which gates are learned, evenly spaced over those kept after step 0"
    )
    seeds: Annotated[Seeds, Field(min_length=1)] = Field([1, 2, 3], description="pruning seeds, all in one pass")
    sparsity: Sparsity = Field(0.5, description="share of halves that learned subsets remove")
    gates: HalfGates = HalfGates()
    lists: Lists = Field(300, description="number of held-out lists, the first, for the evaluation of subsets")
    training_lists: Lists = Field(500, description="number of training lists, the first, for means and batches")
    margin: Annotated[Positive, Unit("points")] = Field(
        3.0, description="a faithful subset loses less than this, points of token accuracy"
    )
    kl: Annotated[Positive, Unit("nats")] = Field(
        0.1, description="a faithful subset diverges by at most this, nats per sorted number"
    )

    def check(self, condition: str, heads: int) -> None:
        """Check that the sparsity keeps some but not all halves of a condition's model.

        Args:
            condition: Name of the condition.
            heads: Number of heads of its model.

        Raises:
            ValueError: The sparsity keeps no half, or all of them.
        """
        if not 0 < (kept := kept_count(2 * heads, self.sparsity)) < 2 * heads:
            raise ValueError(
                f"prune.sparsity = {self.sparsity} keeps {kept} of the {2 * heads} halves of condition {condition!r}, "
                f"so there is no subset to learn; choose a multiple of {1 / (2 * heads):g} between 0 and 1"
            )
