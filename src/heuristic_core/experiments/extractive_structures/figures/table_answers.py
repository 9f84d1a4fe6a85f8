"""Ranks at the end of every experiment, with intervals over seeds."""

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.figures.points import make_rank_marks
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_interval, format_number

GROUP_COLUMNS = ["experiment", "model", "part"]


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Return no figure, and marks.

    Marks: one row per experiment, model and part, with the mean rank (`value`) and its interval (`low`, `high`).
    """
    curves = tables["extractive_curves"]
    ends = curves[curves["epoch"].isin([0, curves["epoch"].max()])]
    times = ends["epoch"].map(lambda epoch: "after" if epoch else "before")
    rows = [
        _label(ends, ends["hop"] + " hop", "corpus " + ends["corpus"] + ", " + times + " teaching"),
        _label_freezing(tables["extractive_freezing"]),
        _label_orders(tables["extractive_ordering"]),
        _label(tables["extractive_grafting"], "grafting", tables["extractive_grafting"]["weights"]),
    ]
    marks = make_rank_marks(pd.concat(rows, ignore_index=True), GROUP_COLUMNS, int(curves["questions"].max()))
    return None, marks[marks["seed"].isna()].drop(columns="seed").reset_index(drop=True)


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return a table for each experiment: models down, parts across."""
    tables = []
    for experiment, rows in marks.groupby("experiment", sort=False):
        parts = rows["part"].drop_duplicates().tolist()
        cells = {
            (row.model, row.part): format_number(row.value, 2) + format_interval(row.low, row.high, digits=2)
            for row in rows.itertuples()
        }
        lines = [
            [model, *(cells.get((model, part), "") for part in parts)] for model in rows["model"].drop_duplicates()
        ]
        title = f"{experiment}: mean ranks, means over {rows['seeds'].max()} seeds with 95 % intervals".capitalize()
        tables.append(Sheet(title, ["model", *parts], lines))
    return tables


def _label(rows: pd.DataFrame, experiment, model) -> pd.DataFrame:
    return rows.assign(experiment=experiment, model=model)[[*GROUP_COLUMNS, "seed", "rank"]]


def _label_freezing(rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows[(rows["layers"] != "none") | (rows["how"] == "frozen")]  # if all layers learn, nothing is restored
    return _label(rows, rows["hop"] + " hop, layers", rows["layers"] + " " + rows["how"])


def _label_orders(rows: pd.DataFrame) -> pd.DataFrame:
    last = rows.groupby("order")["stage"].transform("max")
    rows = rows[rows["stage"] == last]
    return _label(rows[rows["epoch"] == rows.groupby("order")["epoch"].transform("max")], "ordering", rows["order"])
