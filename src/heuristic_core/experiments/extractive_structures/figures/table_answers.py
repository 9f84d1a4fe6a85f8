"""Ranks at the end of every experiment, with intervals over seeds."""

import pandas as pd

from heuristic_core.experiments.extractive_structures.figures.points import of_ranks
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import bracket, number

BY = ["experiment", "model", "part"]


def draw(tables, settings):
    """No figure. Marks: one row per experiment, model and part: `value` is the mean rank, low and high its interval."""
    curves = tables["extractive_curves"]
    ends = curves[curves["epoch"].isin([0, curves["epoch"].max()])]
    when = ends["epoch"].map(lambda epoch: "after" if epoch else "before")
    rows = [
        _named(ends, ends["hop"] + " hop", "corpus " + ends["corpus"] + ", " + when + " teaching"),
        _of_freezing(tables["extractive_freezing"]),
        _of_orders(tables["extractive_ordering"]),
        _named(tables["extractive_grafting"], "grafting", tables["extractive_grafting"]["weights"]),
    ]
    points = of_ranks(pd.concat(rows, ignore_index=True), BY, int(curves["questions"].max()))
    return None, points[points["seed"].isna()].drop(columns="seed").reset_index(drop=True)


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """A table for each experiment: models down, parts across."""
    found = []
    for experiment, rows in marks.groupby("experiment", sort=False):
        parts = rows["part"].drop_duplicates().tolist()
        cells = {
            (row.model, row.part): number(row.value, 2) + bracket(row.low, row.high, digits=2)
            for row in rows.itertuples()
        }
        lines = [
            [model, *(cells.get((model, part), "") for part in parts)] for model in rows["model"].drop_duplicates()
        ]
        title = f"{experiment}: mean ranks, means over {rows['seeds'].max()} seeds with 95 % intervals".capitalize()
        found.append(Sheet(title, ["model", *parts], lines))
    return found


def _named(rows: pd.DataFrame, experiment, model) -> pd.DataFrame:
    return rows.assign(experiment=experiment, model=model)[[*BY, "seed", "rank"]]


def _of_freezing(rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows[(rows["layers"] != "none") | (rows["how"] == "frozen")]  # where all layers learn, nothing is restored
    return _named(rows, rows["hop"] + " hop, layers", rows["layers"] + " " + rows["how"])


def _of_orders(rows: pd.DataFrame) -> pd.DataFrame:
    last = rows.groupby("order")["stage"].transform("max")
    rows = rows[rows["stage"] == last]
    return _named(rows[rows["epoch"] == rows.groupby("order")["epoch"].transform("max")], "ordering", rows["order"])
