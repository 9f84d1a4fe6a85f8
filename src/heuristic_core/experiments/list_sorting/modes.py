"""In which mode a model sorts at the end of training, and which of its heads does what.

Splitting: heads copy different numbers (`splitting` of table "sorting_models" is above 75 %). Suppression: where a head
attends to numbers, it lowers more than 20 % of them most. The experiment's claims name the same limits. A model can be
in both modes, or in neither; without a pair of heads it has none.

The number of a head means nothing over seeds, so that heads are compared by what they do: of a model's heads the one
with the highest difference of copying and suppression scores copies most, and the one with the lowest suppresses most.
"""

import pandas as pd

MODEL = ["condition", "seed"]
COPYING = "copying"  # what a head does to numbers that it does not suppress
SPLITTING, SUPPRESSION, BOTH, NEITHER = "splitting", "suppression", "both", "neither"
MODES = (SPLITTING, SUPPRESSION, BOTH, NEITHER)
SPLITS_ABOVE, SUPPRESSES_ABOVE = 0.75, 0.2  # a model's `splitting`, and the highest `suppression` of its heads
COPIES, SUPPRESSES, OTHER = "copies", "suppresses", "other"


def last(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of each condition's last step."""
    return rows[rows["step"] == rows.groupby("condition")["step"].transform("max")]


def with_suppression(models: pd.DataFrame, heads: pd.DataFrame) -> pd.DataFrame:
    """`models` with column `suppression`: the highest suppression score of a model's heads.

    models, heads: rows of tables "sorting_models" and "sorting_heads", of the same steps.
    """
    highest = heads.groupby([*MODEL, "step"], as_index=False)["suppression"].max()
    return models.merge(highest, on=[*MODEL, "step"], how="left", validate="one_to_one")


def mode_of(splitting: float | None, suppression: float | None) -> str | None:
    """The mode of a model by both scores, 0-1; None where one is unknown."""
    if pd.isna(splitting) or pd.isna(suppression):
        return None
    return {(True, True): BOTH, (True, False): SPLITTING, (False, True): SUPPRESSION, (False, False): NEITHER}[
        splitting > SPLITS_ABOVE, suppression > SUPPRESSES_ABOVE
    ]


def roles(heads: pd.DataFrame) -> pd.DataFrame:
    """Condition, seed, step, head, both scores and `role` of every head. A model's only head is one that copies.

    heads: rows of table "sorting_heads". Of heads that are alike, the first copies and the last suppresses.
    """
    model = [*MODEL, "step"]
    rows = heads[[*model, "head", "copying", "suppression"]]
    rows = rows.assign(difference=rows["suppression"] - rows["copying"])
    rows = rows.sort_values([*model, "difference", "head"], ignore_index=True)
    place, count = rows.groupby(model).cumcount(), rows.groupby(model)["head"].transform("size")
    role = pd.Series(OTHER, rows.index).mask(place == count - 1, SUPPRESSES).mask(place == 0, COPIES)
    return rows.assign(role=role).drop(columns="difference")
