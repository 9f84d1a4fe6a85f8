"""Figures of the experiment to play with: from the marks of a static figure to a view with switches."""

from collections.abc import Callable

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.effective_size import BOUNDED
from heuristic_core.experiments.heuristic_core.analysis.names import subset_label
from heuristic_core.experiments.heuristic_core.figures.roles import ROLES
from heuristic_core.experiments.heuristic_core.figures.targets import module
from heuristic_core.figures.text import percent
from heuristic_core.report.views import INK, Switch, coloured, tooltip, view

LABELS = {group: role.label for group, role in ROLES.items()}
VALUES = {"value": "value", "low": "95 % from", "high": "to"}
WHISKER = {"type": "rule", "strokeWidth": 1, "opacity": 0.6, "clip": True}
FULL = {"type": "point", "shape": "stroke", "size": 260, "strokeWidth": 2.5, "opacity": 1, "color": INK}
POINT = {"type": "point", "filled": True, "size": 55, "opacity": 0.85}


def view_of(name: str, marks: pd.DataFrame) -> dict | None:
    """Target `name` to play with, from the values behind its marks; None for targets that stay as they are."""
    make = VIEWS.get(module(name))
    return make(marks) if make else None


def _spread(marks: pd.DataFrame) -> dict:
    """Figure 2: every subnetwork on every subset, and the full model."""
    marks = _labelled(marks.assign(subset=marks["subset"].fillna(marks["group"])))
    marks["model"] = marks["seed"].map(lambda seed: "full model" if pd.isna(seed) else f"pruning seed {seed:g}")
    # The full model's rows, once in the table, are shown at every sparsity.
    sparsities = sorted(marks.loc[marks["sparsity"] > 0, "sparsity"].unique())
    full, pruned = marks[marks["sparsity"] == 0], marks[marks["sparsity"] > 0]
    rows = pd.concat([*(full.assign(sparsity=one) for one in sparsities), pruned], ignore_index=True)
    y = _percent(rows)
    x = {"field": "subset", "type": "nominal", "title": None, "sort": None, "axis": {"labelAngle": -90}}
    told = tooltip(model="model", subset="subset", **VALUES, n="pairs", collapsed="collapsed")
    place = {"x": x, "y": y, "tooltip": told}
    sparsity = Switch("sparsity", "sparsity", sparsities, [percent(one) for one in sparsities])
    seeds = sorted(pruned["model"].unique())
    layers = [
        _only("datum.model === 'full model'", WHISKER, {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}),
        _only("datum.model === 'full model'", FULL, place),
        _only(
            "datum.model !== 'full model'",
            POINT,
            place | {"xOffset": {"field": "model", "type": "nominal", "sort": seeds}} | _looks(rows),
        ),
    ]  # fmt: skip
    kept = ["ft_seed", "sparsity", "subset", "group", "model", "value", "low", "high", "n", "collapsed"]
    return view(rows.reindex(columns=kept), [_ft_seed(rows), sparsity, _group(rows)], layers)


def _curves(marks: pd.DataFrame) -> dict:
    """Figure 4: mean accuracies against sparsity."""
    rows = _labelled(marks.assign(percent=100 * marks["sparsity"]))
    x = {"field": "percent", "type": "quantitative", "title": "sparsity (% of components removed)"}
    told = tooltip(group="measure", percent="sparsity, %", **VALUES, over="interval over", models="models",
                   collapsed="collapsed")  # fmt: skip
    kept = ["ft_seed", "group", "percent", "value", "low", "high", "over", "models", "collapsed"]
    return view(rows.reindex(columns=kept), [_ft_seed(rows), _group(rows)], _lines(rows, x, _percent(rows), told))


def _sizes(marks: pd.DataFrame) -> dict:
    """Figure 6: effective size over fine-tuning, and the full model's accuracy."""
    rows = _labelled(marks[marks["seed"].isna()])
    # Where a size is a bound its whisker is what it may be; else its interval.
    bounded = rows["state"] == BOUNDED
    rows = rows.assign(low=rows["least"].where(bounded, rows["low"]), high=rows["most"].where(bounded, rows["high"]))
    quantities = {"effective_size": "effective size", "full_accuracy": "the full model's accuracy"}
    quantity = Switch("quantity", "shown", list(quantities), list(quantities.values()))
    y = _percent(rows, "effective size (%); accuracy (%), J (points)")
    told = tooltip(group="measure", step="step", value="value", low="from", high="to", sd="sd over pruning seeds",
                   n_seeds="pruning seeds", floor="floor of the grid", state="state", reason="reason")  # fmt: skip
    kept = ["ft_seed", "quantity", "group", "step", "value", "low", "high", "sd", "n_seeds", "floor", "state", "reason"]
    return view(rows.reindex(columns=kept), [_ft_seed(rows), quantity, _group(rows)], _lines(rows, _step(), y, told))


def _development(marks: pd.DataFrame) -> dict:
    """Figure 10: the full model's accuracy over fine-tuning, subset by subset."""
    rows = _labelled(marks.assign(name=_named(marks).fillna(marks["group"].map(LABELS))))
    told = tooltip(name="subset or measure", step="step", **VALUES, n="pairs")
    detail = {"detail": {"field": "name", "type": "nominal"}}
    kept = ["ft_seed", "group", "name", "step", "value", "low", "high", "n"]
    return view(
        rows.reindex(columns=kept),
        [_ft_seed(rows), _group(rows)],
        _lines(rows, _step(), _percent(rows), told, **detail),
    )


VIEWS: dict[str, Callable[[pd.DataFrame], dict]] = {
    "figure02": _spread,
    "figure04": _curves,
    "figure06": _sizes,
    "figure10": _development,
}


def _named(marks: pd.DataFrame) -> pd.Series:
    return marks["subset"].map(subset_label, na_action="ignore")


def _labelled(marks: pd.DataFrame) -> pd.DataFrame:
    """Groups by their labels, and column `value`, whatever the figure calls it."""
    return marks.assign(group=marks["group"].map(LABELS)).rename(columns={"accuracy": "value"})


def _percent(rows: pd.DataFrame, title: str = "accuracy, AUC (%), J (points)") -> dict:
    """Column `value` from 0 to 100, and below where J is; intervals that go beyond are cut off there."""
    low = min(0.0, rows["value"].min())
    return {"field": "value", "type": "quantitative", "title": title, "scale": {"domain": [low, 100], "nice": True}}


def _there(rows: pd.DataFrame) -> dict:
    """The looks of the groups in `rows`, in the order of figures."""
    return {group: role for group, role in ROLES.items() if role.label in set(rows["group"])}


def _looks(rows: pd.DataFrame) -> dict:
    there = _there(rows)
    return {"color": coloured("group", there), "shape": coloured("group", there, "shape")}


def _lines(rows: pd.DataFrame, x: dict, y: dict, told: list[dict], **detail) -> list[dict]:
    """Lines with points, by group, and intervals where there are any; a line breaks where its value is missing."""
    there = {"x": x, "color": coloured("group", _there(rows))} | detail
    dashes = {"strokeDash": coloured("group", _there(rows), "strokeDash")}
    return [
        {"mark": WHISKER, "encoding": there | {"y": y | {"field": "low"}, "y2": {"field": "high"}}},
        {"mark": {"type": "line", "invalid": "break-paths-filter-domains"}, "encoding": there | dashes | {"y": y}},
        {"mark": POINT, "encoding": there | _looks(rows) | {"y": y, "tooltip": told}},
    ]


def _only(filter: str, mark: dict, encoding: dict) -> dict:
    return {"transform": [{"filter": filter}], "mark": mark, "encoding": encoding}


def _step() -> dict:
    return {"field": "step", "type": "quantitative", "title": "fine-tuning step"}


def _ft_seed(rows: pd.DataFrame) -> Switch:
    seeds = sorted(int(seed) for seed in rows["ft_seed"].unique())
    return Switch("ft_seed", "fine-tuning seed", seeds, [str(seed) for seed in seeds])


def _group(rows: pd.DataFrame) -> Switch:
    labels = [role.label for role in _there(rows).values()]
    return Switch("group", "measure", labels, labels, whole=True)
