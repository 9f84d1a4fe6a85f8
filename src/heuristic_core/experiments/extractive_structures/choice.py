"""Which learning rate and how many epochs teach facts best.

The rule: of the settings with which every seed's facts have a mean rank of at most `LEARNED`, the one whose
implications have the lowest mean rank, mean over seeds; of equals the fewer epochs, then the lower learning rate. None
is chosen where no setting teaches the facts. The rank of the chosen setting is too good by the choice itself: what it
answers is measured with other seeds, or read as the best that is possible.
"""

import pandas as pd

LEARNED = 0.5  # mean rank of facts


def choice_rows(sweep: pd.DataFrame) -> list[dict]:
    """Rows of table "extractive_choice", without names. sweep: table "extractive_sweep"."""
    rows = []
    for hop, of_hop in sweep.groupby("hop", sort=True):
        found = [_of_setting(hop, *setting, part) for setting, part in of_hop.groupby(["learning_rate", "epoch"])]
        able = [row for row in found if row["facts"] <= LEARNED]
        best = min(able, key=lambda row: (row["implications"], row["epoch"], row["learning_rate"]), default=None)
        rows += [row | {"chosen": row is best} for row in found]
    return rows


def _of_setting(hop: str, rate: float, epoch: int, rows: pd.DataFrame) -> dict:
    ranks = {part: rows.loc[rows["part"] == part, "rank"] for part in ("facts", "implications")}
    about = {"hop": hop, "learning_rate": float(rate), "epoch": int(epoch)}
    return about | {"facts": float(ranks["facts"].max()), "implications": float(ranks["implications"].mean())}
