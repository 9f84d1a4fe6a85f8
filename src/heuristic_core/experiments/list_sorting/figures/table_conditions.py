"""Every condition at the end of training: how well its models sort, and in which mode."""

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures.final_models import select_final_models
from heuristic_core.experiments.list_sorting.modes import MODES
from heuristic_core.experiments.list_sorting.tables import measure_limits
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.seeds import append_means
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_interval, format_number

CONDITION = ["condition", "numbers", "length", "mean_gap", "heads", "optimiser", "weight_decay", "steps"]
LEVELS = {"token_accuracy": "token accuracy", "list_accuracy": "list accuracy", "loss": "loss (nats)"}
MODE_MEASURES = {
    "overlap": "overlap",
    "splitting": "splitting",
    "suppression": "suppression",
    "suppression_of_next": "suppression of next",
    "folded_opposite_sign": "D of opposite sign",
}
MEASURES = [*LEVELS, *MODE_MEASURES]
ENDS = ["low", "high"]


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Return no figure, and marks: one row per condition.

    Every measure is a mean over seeds (`<measure>_seeds` have a value), with its interval. mode_<mode>: number of
    models that ended in it; models with one head have no mode.
    """
    models = select_final_models(tables)
    values = models.melt(["condition", "seed"], MEASURES, "measure", "value")
    points = append_means(values, ["condition", "measure"], measure_limits)
    means = points[points["seed"].isna()].set_index(["condition", "measure"])
    marks = models[CONDITION].drop_duplicates(ignore_index=True)
    marks["models"] = [int((models["condition"] == name).sum()) for name in marks["condition"]]
    for measure in MEASURES:
        measure_means = means.xs(measure, level="measure").loc[marks["condition"]].reset_index()
        marks[measure] = measure_means["value"]
        for column in (*ENDS, "seeds"):
            marks[f"{measure}_{column}"] = measure_means[column]
    for mode in MODES:
        mode_conditions = models.loc[models["mode"] == mode, "condition"]
        marks[f"mode_{mode}"] = [int((mode_conditions == name).sum()) for name in marks["condition"]]
    return None, marks


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return two tables of all conditions: how well models sort, and what their heads do."""
    settings = ["condition", "numbers", "length", "mean gap", "heads", "decay", "steps"]
    rows = list(marks.itertuples())
    sorting = [[*_format_settings(row), *_cells(row, LEVELS, 3)] for row in rows]
    modes = [[row.condition, *_cells(row, MODE_MEASURES, 2), *_counts(row)] for row in rows]
    heads = ["condition", *MODE_MEASURES.values(), *(f"mode: {mode}" for mode in MODES)]
    return [
        Sheet("Sorting: means over seeds with 95 % intervals", [*settings, *LEVELS.values()], sorting),
        Sheet("Heads: the same, and how many models are in a mode", heads, modes),
    ]


def _format_settings(row) -> list[str]:
    """Format the settings of a condition."""
    decay = f"{row.optimiser} {row.weight_decay:g}" if row.weight_decay else row.optimiser
    counts = (str(row.numbers), str(row.length), format_number(row.mean_gap, 2), str(row.heads))
    return [row.condition, *counts, decay, str(row.steps)]


def _cells(row, measures, digits: int) -> list[str]:
    """Format means with their intervals."""
    cells = []
    for name in measures:
        ends = (getattr(row, f"{name}_{end}") for end in ENDS)
        cells.append(format_number(getattr(row, name), digits) + format_interval(*ends, digits=digits))
    return cells


def _counts(row) -> list[str]:
    """Format the number of models in each mode."""
    return [f"{getattr(row, f'mode_{mode}')} of {row.models}" for mode in MODES]
