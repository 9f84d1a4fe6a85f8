"""Table 3, also tables 4, 6 and 8: accuracy of the full model with core heads ablated, singly and together."""

from collections.abc import Iterator

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import AUC, ENTAILMENT, ID, OOD, J
from heuristic_core.experiments.subnetworks.analysis.completeness_sets import SET_NAMES, control_role
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import ROLES, group_label
from heuristic_core.experiments.subnetworks.figures.rows import (
    ft_seeds,
    map_subset_groups,
    require_rows,
    resolve_subsets,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_number, format_signed

JOINT_ROLES = ("strongest", "core-all", "chosen")  # roles of the sets of several heads in the table
LARGER_SETS = (*SET_NAMES, *map(control_role, SET_NAMES))
FIRST_KIND_ROLES = ("non-core", *LARGER_SETS)
MEANS = (ID, J, OOD, ENTAILMENT, AUC)  # in the order of columns
VALUES = ["accuracy", "change", "change_low", "change_high"]
COLUMNS = ["ft_seed", "kind", "row", "role", "size", "statistic", "sets", "column", "group", "subset", "n", *VALUES]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Collect the cells of the table.

    Args:
        tables: Data frames by schema name: "ablations".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        No figure, and the marks: one row per kind of ablation and cell. `row` says what is ablated. `statistic` is
        "one" for one ablation, "mean" for several; `sets` is their number. `column` is a subset, or the mean of a group
        (null `subset`). `n` counts pairs. `accuracy` is in percent, `change` in points.
    """
    ablations = tables["ablations"]
    ablations = require_rows(ablations[ablations["step"] == context.last], f"ablations at step {context.last}")
    groups = map_subset_groups(ablations, resolve_subsets(settings, context))
    cells = pd.concat([_group_cells(ablations), _subset_cells(ablations, list(groups))])
    columns = list(dict.fromkeys(cells["column"]))
    first = ablations["kind"].iloc[0]
    rows = [
        row.assign(kind=kind).sort_values("column", key=lambda names: names.map(columns.index), kind="stable")
        for ft_seed in ft_seeds(cells)
        for kind, kind_cells in cells[cells["ft_seed"] == ft_seed].groupby("kind", sort=False)
        for row in _build_rows(kind_cells, with_others=kind == first)
    ]
    return None, pd.concat(rows, ignore_index=True)[COLUMNS]


def _subset_cells(ablations: pd.DataFrame, subsets: list[str]) -> pd.DataFrame:
    """Return the cells of subsets, in the order of `subsets`, without the only subset of a group with a mean."""
    members = ablations.dropna(subset="subset").groupby("group")["subset"].unique()
    means = set(ablations.loc[ablations["subset"].isna(), "group"])
    alone = {names[0] for group, names in members.items() if len(names) == 1 and group in means}
    cells = ablations[ablations["subset"].isin(subsets) & ~ablations["subset"].isin(alone)]
    cells = cells.assign(column=cells["subset"])
    return cells.sort_values("subset", key=lambda names: names.map(subsets.index), kind="stable")


def _group_cells(ablations: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of group means, J and AUC."""
    cells = ablations[ablations["subset"].isna()]
    cells = cells.assign(column=cells["group"].map(group_label))
    return cells.sort_values("group", key=lambda names: names.map(MEANS.index), kind="stable")


def _build_rows(cells: pd.DataFrame, with_others: bool) -> Iterator[pd.DataFrame]:
    """Yield the rows of one fine-tuning seed and kind; `with_others` adds the mean of heads outside the core."""
    yield _single_row(require_rows(cells[cells["role"] == "none"], "full model (ablation 'none')"), "none")
    others = cells[cells["role"] == "non-core"]
    if with_others and len(others):
        yield _mean_row(others, "mean of {} heads outside the core")
    core = cells[cells["role"] == "core"]
    for head in sorted(core["ablation"].unique(), key=_layer_head_key):
        yield _single_row(core[core["ablation"] == head], _format_label(head))
    joint = cells[cells["role"].isin(JOINT_ROLES)]
    if not joint["role"].isin(["strongest", "core-all"]).any():  # a core of two is one pair, and no larger set
        joint = cells[cells["role"].isin([*JOINT_ROLES, "pair"])]
    for name in joint["ablation"].unique():
        yield _single_row(joint[joint["ablation"] == name], _format_label(name))
    for layers in joint["layers"].unique():
        controls = cells[(cells["role"] == "control") & (cells["layers"] == layers)]
        if len(controls):
            yield _mean_row(controls, f"mean of {{}} controls in layers {layers}")
    for role, name in SET_NAMES.items():
        ablated, controls = (cells[cells["role"] == name] for name in (role, control_role(role)))
        if len(ablated):
            yield _single_row(ablated, name)
        if len(controls):
            yield _mean_row(controls, f"mean of {{}} controls of {name}")


def _format_label(name: str) -> str:
    """Return a label such as "head 2.5", "heads 2.5 + 3.7" or "all core heads"."""
    if name == "core-all":
        return "all core heads"
    return f"heads {name.replace('+', ' + ')}" if "+" in name else f"head {name}"


def _layer_head_key(name: str) -> tuple[int, ...]:
    """Return layer and head of a name such as "2.5", for sorting."""
    return tuple(map(int, name.split(".")))


def _single_row(cells: pd.DataFrame, row: str) -> pd.DataFrame:
    """Return the row of one ablation."""
    return cells.assign(row=row, statistic="one", sets=1)


def _mean_row(cells: pd.DataFrame, row: str) -> pd.DataFrame:
    """Return the row of means over ablations, without intervals; a mean is null if an ablation's value is null."""
    columns = cells.groupby("column", sort=False)
    count = cells["ablation"].nunique()
    means = {value: columns[value].agg(lambda values: values.mean(skipna=False)) for value in ("accuracy", "change")}
    first = columns[["ft_seed", "role", "size", "group", "subset", "n"]].agg(lambda values: values.iloc[0])
    labelled = first.assign(**means, row=row.format(count), statistic="mean", sets=count)
    return labelled.reset_index().reindex(columns=COLUMNS)


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return, for each fine-tuning seed, means with the first kind of ablation, all kinds, and the paper's subsets.

    The first kind has two tables of means: of the core and its heads, and of larger sets.
    """
    sheet_list = []
    for ft_seed in ft_seeds(marks):
        seed_marks = marks[marks["ft_seed"] == ft_seed]
        kinds = list(dict.fromkeys(seed_marks["kind"]))
        kind_marks = seed_marks[seed_marks["kind"] == kinds[0]]
        title = f"Fine-tuning seed {ft_seed}, {kinds[0]} ablation"
        group_marks = kind_marks[kind_marks["subset"].isna()]  # none in published tables, which have subsets alone
        are_larger = group_marks["role"].isin(LARGER_SETS)
        if len(group_marks):
            sheet_list.append(_sheet_by_set(group_marks[~are_larger], f"{title}, means"))
        if are_larger.any():
            sheet_list.append(_sheet_by_set(group_marks[are_larger], f"{title}, means of larger sets"))
        compared = seed_marks[seed_marks["subset"].isna() & (seed_marks["role"] != "none")]
        compared = compared[~compared["role"].isin(FIRST_KIND_ROLES)]
        if len(kinds) > 1 and len(compared):
            sheet_list.append(_sheet_by_kind(compared, f"Fine-tuning seed {ft_seed}, by kind of ablation"))
        if len(subset_marks := kind_marks[kind_marks["subset"].notna()]):
            sheet_list.append(_sheet_by_set(subset_marks, f"{title}, subsets"))
    return sheet_list


def _sheet_by_set(marks: pd.DataFrame, title: str) -> Sheet:
    """Return a table of accuracy (change; its interval), a row for each ablation."""
    columns, rows = list(dict.fromkeys(marks["column"])), []
    for name, row_marks in marks.groupby("row", sort=False):
        cells = {cell.column: cell for cell in row_marks.itertuples()}
        rows.append([name, *(_format_accuracy(cells.get(column)) for column in columns)])
    return Sheet(title, ["ablated", *columns], rows)


def _sheet_by_kind(marks: pd.DataFrame, title: str) -> Sheet:
    """Return a table of group means, the kinds of ablation of a set of heads below one another."""
    groups, rows = list(dict.fromkeys(marks["group"])), []
    for name, row_marks in marks.groupby("row", sort=False):
        for kind, kind_rows in row_marks.groupby("kind", sort=False):
            cells = {cell.group: cell for cell in kind_rows.itertuples()}
            rows.append([name, kind, *(_format_accuracy(cells.get(group)) for group in groups)])
    return Sheet(title, ["ablated", "replaced by", *(ROLES[group].label for group in groups)], rows)


def _format_accuracy(cell) -> str:
    """Format accuracy with its change and interval in brackets, both in whole points; empty for a missing cell."""
    if cell is None or cell.role == "none" or pd.isna(cell.change):
        return "" if cell is None else format_number(cell.accuracy)
    change = _format_points(cell.change)
    if pd.notna(cell.change_low):
        change += f"; {_format_points(cell.change_low)} to {_format_points(cell.change_high)}"
    return f"{format_number(cell.accuracy)} ({change})"


def _format_points(change: float) -> str:
    """Return a change in whole points, with a sign unless it is 0."""
    return "0" if round(change) == 0 else format_signed(change, 0)
