"""Choose the sampled steps between which the local learning coefficient (LLC) is compared for a stage.

A stage of a model lasts from one measured step to another, and the LLC is sampled at few of them. It is compared
between the last sampled step up to the start and the first one from the end on. Each may be at most one measured step
outside the stage: with farther steps the change would include other stages.

Specialisation is the fall of the overlap after the loss's fall has ended. In tables it may begin while the loss still
falls; until then changes of the LLC cannot be separated from those of initial learning.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import pandas as pd

from heuristic_core.experiments.list_sorting.stages import LEARNING, SPECIALISATION
from heuristic_core.stats.estimates import NotComputable

MAX_STEPS_OUTSIDE = 1  # measured steps


def find_stage(stages: pd.DataFrame, stage: str) -> tuple[int, int]:
    """Return start and end of a stage of one model, measured steps.

    Args:
        stages: Rows of table "sorting_seed_stages" of the model.
        stage: Name of the stage.

    Raises:
        NotComputable: The model lacks the stage, or a specialisation ends before initial learning does.
    """
    rows = stages.set_index("stage").loc[[stage] if stage != SPECIALISATION else [LEARNING, stage]]
    if reasons := list(rows["reason"].dropna()):
        raise NotComputable("; ".join(reasons))
    start, end = rows.loc[stage, ["start", "end"]]
    if stage == SPECIALISATION and (start := max(start, rows.loc[LEARNING, "end"])) >= end:
        raise NotComputable(f"the overlap's fall ends at step {end:g}, and the loss's fall at step {start:g}")
    return int(start), int(end)


def bracket_stage(start: int, end: int, sampled: Sequence[int], measured: Sequence[int]) -> tuple[int, int]:
    """Return the sampled steps next to a stage, at its ends or outside.

    Args:
        start: Start of the stage, a measured step.
        end: End of the stage, a measured step.
        sampled: Sampled steps, ascending.
        measured: Measured steps, ascending.

    Raises:
        NotComputable: No sampled step is within `MAX_STEPS_OUTSIDE` measured steps.
    """
    before, after = bisect_right(sampled, start) - 1, bisect_left(sampled, end)
    if before < 0 or after == len(sampled):
        raise NotComputable(f"no step {'after' if before >= 0 else 'before'} the stage, {start} to {end}, is sampled")
    low, high = sampled[before], sampled[after]
    if max(measured.index(start) - measured.index(low), measured.index(high) - measured.index(end)) > MAX_STEPS_OUTSIDE:
        raise NotComputable(
            f"the sampled steps next to the stage, {start} to {end}, are {low} and {high}: "
            f"more than {MAX_STEPS_OUTSIDE} measured step outside"
        )
    return low, high
