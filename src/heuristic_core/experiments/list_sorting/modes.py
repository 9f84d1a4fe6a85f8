"""The mode in which a model sorts at the end of training, and the role of each of its heads.

A model splits the vocabulary, or suppresses copying, if its `splitting` or `suppression` in table "sorting_models" is
above the widest gap between neighbouring values of development models; it does not if it is below this gap, and is
unclear in between. Development models (config/list-sorting/development.yaml) are trained with and without weight decay,
with seeds that no other study uses. A model with one head has no mode.

The index of a head has no meaning across seeds, so heads are compared by their role: the head of a model that copies
most, and, of the others, the one that suppresses most.
"""

from typing import NamedTuple

import pandas as pd


class Limits(NamedTuple):
    """The ends of the widest gap between neighbouring values of development models."""

    low: float
    high: float


MODEL_KEYS = ["condition", "seed"]
COPYING = "copying"
SPLITTING, SUPPRESSION = "splitting", "suppression"  # columns of table "sorting_models"
BOTH, NEITHER, UNCLEAR = "both", "neither", "unclear"
MODES = (SPLITTING, SUPPRESSION, BOTH, NEITHER, UNCLEAR)
LIMITS = {SPLITTING: Limits(0.5977, 0.8170), SUPPRESSION: Limits(0.0046, 0.1732)}
COPIES, SUPPRESSES, OTHER = "copies", "suppresses", "other"


def select_last_step(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each condition's last step."""
    return rows[rows["step"] == rows.groupby("condition")["step"].transform("max")]


def classify_mode(splitting: float | None, suppression: float | None) -> str | None:
    """Return the mode of a model; None if a measure is missing.

    Args:
        splitting: Measure of vocabulary splitting, 0-1.
        suppression: Measure of copy suppression.
    """
    values = {SPLITTING: splitting, SUPPRESSION: suppression}
    if any(pd.isna(value) for value in values.values()):
        return None
    if any(LIMITS[name].low < value < LIMITS[name].high for name, value in values.items()):
        return UNCLEAR
    above = tuple(value >= LIMITS[name].high for name, value in values.items())
    return {(True, True): BOTH, (True, False): SPLITTING, (False, True): SUPPRESSION, (False, False): NEITHER}[above]


def assign_roles(heads: pd.DataFrame) -> pd.DataFrame:
    """Return condition, seed, step, head, copying, suppression and `role` of every head.

    The only head of a model copies. Of heads that copy equally, the first copies most, and of those that suppress
    equally, the last suppresses most.

    Args:
        heads: Rows of table "sorting_heads".
    """
    keys = [*MODEL_KEYS, "step"]
    rows = heads[[*keys, "head", "copying", "suppression"]].sort_values([*keys, "head"], ignore_index=True)
    role = pd.Series(OTHER, rows.index)
    role[rows.groupby(keys)["copying"].idxmax()] = COPIES
    others = rows[role == OTHER].sort_values("suppression", kind="stable")
    role[others.drop_duplicates(keys, keep="last").index] = SUPPRESSES
    return rows.assign(role=role)
