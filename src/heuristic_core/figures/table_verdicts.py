"""Table for reading: the verdict of each study on each claim."""

import pandas as pd

from heuristic_core.common.roles import Folder, Input, Output
from heuristic_core.figures.save import save
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_number
from heuristic_core.stats.estimates import NOT_RUN
from heuristic_core.stats.verdicts import is_test
from heuristic_core.tables.parquet import read_table

COLUMNS = ["study", "claim", "sentence", "family", "verdict", "estimate", "low", "high", "p", "threshold", "detail"]


def draw_verdicts(target: str, claims: list[Input], folder: Folder, files: list[Output] = ()) -> None:
    """Compare the verdicts of studies.

    Args:
        target: Name of the table.
        claims: Table "claims" of every study (Parquet).
        folder: Where to write tables/.
        files: The files that are written there, for the record.
    """
    table = pd.concat([select_overall(read_table(path)) for path in claims], ignore_index=True)
    save(folder, target, None, table, None, "Verdicts of all studies", sheets(table))


def select_overall(claims: pd.DataFrame) -> pd.DataFrame:
    """Return the row of each claim that speaks for the study: the one without a fine-tuning seed, or the only one."""
    is_overall = claims["ft_seed"].isna()
    single = ~claims["claim"].isin(claims.loc[is_overall, "claim"])
    return claims.loc[is_overall | single, COLUMNS]


def sheets(table: pd.DataFrame) -> list[Sheet]:
    """Return the tables for reading, claims and checks: a row for each claim, a column for each study."""
    studies = list(dict.fromkeys(table["study"]))
    judged = table[table["verdict"] != NOT_RUN]
    parts = {"Claims": judged[judged["family"].notna()], "Checks": judged[judged["family"].isna()]}
    return [
        Sheet(title, ["claim", *studies], [_cells(rows, studies) for _, rows in part.groupby("claim", sort=False)])
        for title, part in parts.items()
        if len(part)
    ]


def _cells(rows: pd.DataFrame, studies: list[str]) -> list[str]:
    """Return the cells of one claim."""
    by_study = {row.study: row for row in rows.itertuples()}
    sentence = rows["sentence"].iloc[0]
    return [sentence, *(_format_verdict(by_study.get(study)) for study in studies)]


def _format_verdict(row) -> str:
    """Return a verdict with its number, such as "supported (80.4)"; a dash if the study lacks it."""
    if row is None:
        return "–"
    number = row.p if is_test(row.threshold) else row.estimate
    if pd.isna(number):
        return row.verdict
    return f"{row.verdict} (p = {number:.2g})" if is_test(row.threshold) else f"{row.verdict} ({format_number(number)})"
