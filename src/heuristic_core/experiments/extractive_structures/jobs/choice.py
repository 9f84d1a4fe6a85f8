"""The choice of the learning rate and the number of epochs that teach facts best.

A setting is eligible if the mean rank of facts is at most `MAX_FACT_RANK` for every seed. Of the eligible settings, the
one with the lowest mean rank of implications, averaged over seeds, is chosen; ties go to fewer epochs, then to the
lower learning rate. No setting is chosen if none is eligible. The choice makes the rank of the chosen setting
optimistic: measure it on other seeds, or read it as a best case.
"""

import pandas as pd

from heuristic_core.common.roles import Input, Output
from heuristic_core.tables.parquet import read_table, write_table

MAX_FACT_RANK = 0.5


def choose_settings(table: Input, study: str, choice: Output) -> None:
    """Choose the learning rate and number of epochs that teach a hop's facts best.

    Args:
        table: Table extractive_sweep (Parquet).
        study: Name of the study.
        choice: Where to write table extractive_choice.
    """
    rows = choice_rows(read_table(table))
    write_table("extractive_choice", [{"study": study} | row for row in rows], choice)


def choice_rows(sweep: pd.DataFrame) -> list[dict]:
    """Return the rows of table "extractive_choice" without the study's name.

    Args:
        sweep: Table "extractive_sweep".
    """
    rows = []
    for hop, hop_rows in sweep.groupby("hop", sort=True):
        groups = hop_rows.groupby(["learning_rate", "epoch"])
        settings = [_summarise_setting(hop, *setting, group) for setting, group in groups]
        eligible = [row for row in settings if row["facts"] <= MAX_FACT_RANK]
        best = min(eligible, key=lambda row: (row["implications"], row["epoch"], row["learning_rate"]), default=None)
        rows += [row | {"chosen": row is best} for row in settings]
    return rows


def _summarise_setting(hop: str, rate: float, epoch: int, rows: pd.DataFrame) -> dict:
    ranks = {part: rows.loc[rows["part"] == part, "rank"] for part in ("facts", "implications")}
    setting = {"hop": hop, "learning_rate": float(rate), "epoch": int(epoch)}
    return setting | {"facts": float(ranks["facts"].max()), "implications": float(ranks["implications"].mean())}
