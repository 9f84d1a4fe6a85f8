"""The mode in which a model sorts at the end of training, and the role of each of its heads.

Splitting: heads copy different numbers (`splitting` of table "sorting_models" is above 75 %). Suppression: where a head
attends to numbers, it lowers more than 20 % of them most. The experiment's claims use the same limits. A model can be
in both modes or in neither; a model with one head has no mode.

The index of a head has no meaning across seeds, so heads are compared by their role: the head of a model with the
highest difference of copying and suppression scores copies most, and the one with the lowest suppresses most.
"""

import pandas as pd

MODEL_KEYS = ["condition", "seed"]
COPYING = "copying"  # what a head does to numbers that it does not suppress
SPLITTING, SUPPRESSION, BOTH, NEITHER = "splitting", "suppression", "both", "neither"
MODES = (SPLITTING, SUPPRESSION, BOTH, NEITHER)
SPLITS_ABOVE, SUPPRESSES_ABOVE = 0.75, 0.2  # a model's `splitting`, and the highest `suppression` of its heads
COPIES, SUPPRESSES, OTHER = "copies", "suppresses", "other"


def select_last_step(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each condition's last step."""
    return rows[rows["step"] == rows.groupby("condition")["step"].transform("max")]


def add_suppression(models: pd.DataFrame, heads: pd.DataFrame) -> pd.DataFrame:
    """Add column `suppression` to `models`: the highest suppression score of a model's heads.

    Args:
        models: Rows of table "sorting_models".
        heads: Rows of table "sorting_heads" of the same steps.
    """
    highest = heads.groupby([*MODEL_KEYS, "step"], as_index=False)["suppression"].max()
    return models.merge(highest, on=[*MODEL_KEYS, "step"], how="left", validate="one_to_one")


def classify_mode(splitting: float | None, suppression: float | None) -> str | None:
    """Return the mode of a model; None if a score is missing.

    Args:
        splitting: Score of vocabulary splitting, 0-1.
        suppression: Score of copy suppression, 0-1.
    """
    if pd.isna(splitting) or pd.isna(suppression):
        return None
    return {(True, True): BOTH, (True, False): SPLITTING, (False, True): SUPPRESSION, (False, False): NEITHER}[
        splitting > SPLITS_ABOVE, suppression > SUPPRESSES_ABOVE
    ]


def assign_roles(heads: pd.DataFrame) -> pd.DataFrame:
    """Return condition, seed, step, head, both scores and `role` of every head.

    The only head of a model copies. Of heads with equal scores, the first copies and the last suppresses.

    Args:
        heads: Rows of table "sorting_heads".
    """
    keys = [*MODEL_KEYS, "step"]
    rows = heads[[*keys, "head", "copying", "suppression"]]
    rows = rows.assign(difference=rows["suppression"] - rows["copying"])
    rows = rows.sort_values([*keys, "difference", "head"], ignore_index=True)
    rank, heads_per_model = rows.groupby(keys).cumcount(), rows.groupby(keys)["head"].transform("size")
    role = pd.Series(OTHER, rows.index).mask(rank == heads_per_model - 1, SUPPRESSES).mask(rank == 0, COPIES)
    return rows.assign(role=role).drop(columns="difference")
