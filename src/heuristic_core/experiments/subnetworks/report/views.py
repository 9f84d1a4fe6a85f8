"""Interactive figures: from the marks of a static figure to a Vega-Lite view with switches."""

from collections.abc import Callable

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.size_states import BOUNDED
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.targets import drawing_module
from heuristic_core.figures.text import format_percent
from heuristic_core.report.views import INK_COLOUR, Switch, encode_roles, make_view, tooltip_fields

LABELS = {group: role.label for group, role in ROLES.items()}
VALUES = {"value": "value", "low": "95 % from", "high": "to"}
WHISKER = {"type": "rule", "strokeWidth": 1, "opacity": 0.6, "clip": True}
FULL = {"type": "point", "shape": "stroke", "size": 260, "strokeWidth": 2.5, "opacity": 1, "color": INK_COLOUR}
POINT = {"type": "point", "filled": True, "size": 55, "opacity": 0.85}


def build_view(name: str, marks: pd.DataFrame) -> dict | None:
    """Return the interactive view of a target; None for targets without one.

    Args:
        name: Name of the target.
        marks: Its marks.
    """
    make = VIEWS.get(drawing_module(name))
    return make(marks) if make else None


def _spread_view(marks: pd.DataFrame) -> dict:
    """Return the view of figure 2: every subnetwork on every subset, and the full model."""
    marks = _label_groups(marks.assign(subset=marks["subset"].fillna(marks["group"])))
    marks["model"] = marks["seed"].map(lambda seed: "full model" if pd.isna(seed) else f"pruning seed {seed:g}")
    # Repeat the full model's rows, which are in the table once, at every sparsity.
    sparsities = sorted(marks.loc[marks["sparsity"] > 0, "sparsity"].unique())
    full, pruned = marks[marks["sparsity"] == 0], marks[marks["sparsity"] > 0]
    rows = pd.concat(
        [*(full.assign(sparsity=sparsity_value) for sparsity_value in sparsities), pruned], ignore_index=True
    )
    y = _value_axis(rows)
    x = {"field": "subset", "type": "nominal", "title": None, "sort": None, "axis": {"labelAngle": -90}}
    tooltips = tooltip_fields(model="model", subset="subset", **VALUES, n="pairs", collapsed="collapsed")
    encoding = {"x": x, "y": y, "tooltip": tooltips}
    sparsity = Switch(
        "sparsity", "sparsity", sparsities, [format_percent(sparsity_value) for sparsity_value in sparsities]
    )
    seeds = sorted(pruned["model"].unique())
    layers = [
        _filter_layer(
            "datum.model === 'full model'", WHISKER, {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}
        ),
        _filter_layer("datum.model === 'full model'", FULL, encoding),
        _filter_layer(
            "datum.model !== 'full model'",
            POINT,
            encoding | {"xOffset": {"field": "model", "type": "nominal", "sort": seeds}} | _look_encodings(rows),
        ),
    ]  # fmt: skip
    columns = ["ft_seed", "sparsity", "subset", "group", "model", "value", "low", "high", "n", "collapsed"]
    return make_view(rows.reindex(columns=columns), [_seed_switch(rows), sparsity, _group_switch(rows)], layers)


def _curve_view(marks: pd.DataFrame) -> dict:
    """Return the view of figure 4: mean accuracies against sparsity."""
    means = marks[marks["seed"].isna()]
    rows = _label_groups(means.assign(percent=100 * means["sparsity"]))
    x = {"field": "percent", "type": "quantitative", "title": "sparsity (% of components removed)"}
    tooltips = tooltip_fields(group="measure", percent="sparsity, %", value="value", models="models",
                   collapsed="collapsed")  # fmt: skip
    columns = ["ft_seed", "group", "percent", "value", "models", "collapsed"]
    return make_view(
        rows.reindex(columns=columns),
        [_seed_switch(rows), _group_switch(rows)],
        _line_layers(rows, x, _value_axis(rows), tooltips)[1:],  # no intervals
    )


def _size_view(marks: pd.DataFrame) -> dict:
    """Return the view of figure 6: effective size over fine-tuning, and the full model's accuracy."""
    rows = _label_groups(marks[marks["seed"].isna()])
    bounded = rows["state"] == BOUNDED
    rows = rows.assign(low=rows["least"].where(bounded), high=rows["most"].where(bounded))
    quantities = {"effective_size": "effective size", "full_accuracy": "the full model's accuracy"}
    quantity = Switch("quantity", "shown", list(quantities), list(quantities.values()))
    y = _value_axis(rows, "effective size (%); accuracy (%), J (points)")
    tooltips = tooltip_fields(group="measure", step="step", value="value", low="from", high="to",
                   n_seeds="pruning seeds", floor="floor of the grid", state="state", reason="reason")  # fmt: skip
    columns = [
        "ft_seed",
        "quantity",
        "group",
        "step",
        "value",
        "low",
        "high",
        "n_seeds",
        "floor",
        "state",
        "reason",
    ]
    return make_view(
        rows.reindex(columns=columns),
        [_seed_switch(rows), quantity, _group_switch(rows)],
        _line_layers(rows, _step_axis(), y, tooltips),
    )


def _development_view(marks: pd.DataFrame) -> dict:
    """Return the view of figure 10: the full model's accuracy over fine-tuning, subset by subset."""
    labels = marks["group"].map(LABELS)
    means = labels.where(marks["family"].isna(), labels + ", " + marks["family"].astype(object).fillna(""))
    rows = _label_groups(marks.assign(name=marks["subset"].fillna(means)))
    tooltips = tooltip_fields(name="subset or measure", step="step", **VALUES, n="pairs")
    detail = {"detail": {"field": "name", "type": "nominal"}}
    columns = ["ft_seed", "group", "name", "step", "value", "low", "high", "n"]
    return make_view(
        rows.reindex(columns=columns),
        [_seed_switch(rows), _group_switch(rows)],
        _line_layers(rows, _step_axis(), _value_axis(rows), tooltips, **detail),
    )


VIEWS: dict[str, Callable[[pd.DataFrame], dict]] = {
    "figure02": _spread_view,
    "figure04": _curve_view,
    "figure06": _size_view,
    "figure10": _development_view,
}


def _label_groups(marks: pd.DataFrame) -> pd.DataFrame:
    """Replace groups by their labels, and rename accuracies to `value`."""
    return marks.assign(group=marks["group"].map(LABELS)).rename(columns={"accuracy": "value"})


def _value_axis(rows: pd.DataFrame, title: str = "accuracy, AUC (%), J (points)") -> dict:
    """Return the encoding of `value`: an axis from 0, or the lowest J, to 100; longer intervals are clipped."""
    low = min(0.0, rows["value"].min())
    return {"field": "value", "type": "quantitative", "title": title, "scale": {"domain": [low, 100], "nice": True}}


def _present_roles(rows: pd.DataFrame) -> dict:
    """Return the looks of the groups in `rows`, in the order of figures."""
    return {group: role for group, role in ROLES.items() if role.label in set(rows["group"])}


def _look_encodings(rows: pd.DataFrame) -> dict:
    """Return the encodings of colour and shape by group."""
    roles = _present_roles(rows)
    return {"color": encode_roles("group", roles), "shape": encode_roles("group", roles, "shape")}


def _line_layers(rows: pd.DataFrame, x: dict, y: dict, tooltips: list[dict], **detail) -> list[dict]:
    """Return layers of lines with points and intervals by group; lines break at missing values."""
    encoding = {"x": x, "color": encode_roles("group", _present_roles(rows))} | detail
    dashes = {"strokeDash": encode_roles("group", _present_roles(rows), "strokeDash")}
    return [
        {"mark": WHISKER, "encoding": encoding | {"y": y | {"field": "low"}, "y2": {"field": "high"}}},
        {"mark": {"type": "line", "invalid": "break-paths-filter-domains"}, "encoding": encoding | dashes | {"y": y}},
        {"mark": POINT, "encoding": encoding | _look_encodings(rows) | {"y": y, "tooltip": tooltips}},
    ]


def _filter_layer(filter: str, mark: dict, encoding: dict) -> dict:
    """Return a layer of the rows that a Vega expression selects."""
    return {"transform": [{"filter": filter}], "mark": mark, "encoding": encoding}


def _step_axis() -> dict:
    """Return the encoding of fine-tuning steps."""
    return {"field": "step", "type": "quantitative", "title": "fine-tuning step"}


def _seed_switch(rows: pd.DataFrame) -> Switch:
    """Return the switch of fine-tuning seeds."""
    seeds = sorted(int(seed) for seed in rows["ft_seed"].unique())
    return Switch("ft_seed", "fine-tuning seed", seeds, [str(seed) for seed in seeds])


def _group_switch(rows: pd.DataFrame) -> Switch:
    """Return the switch of groups."""
    labels = [role.label for role in _present_roles(rows).values()]
    return Switch("group", "measure", labels, labels, include_all=True)
