"""Table 3: accuracy of the full model with core heads ablated, by themselves and together. Also tables 4, 6 and 8."""

from collections.abc import Iterator

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.completeness_sets import NAMES, control_role
from heuristic_core.experiments.heuristic_core.analysis.names import subset_label
from heuristic_core.experiments.heuristic_core.figures.roles import ROLES, group_label
from heuristic_core.experiments.heuristic_core.figures.rows import MEASURED, ft_seeds, shown, some, subset_groups
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import number, signed

JOINT = ("strongest", "core-all", "chosen")  # roles of the sets that are shown
FIRST_KIND_ALONE = ("non-core", *NAMES, *map(control_role, NAMES))
VALUES = ["accuracy", "change", "change_low", "change_high", "interaction", "interaction_low", "interaction_high"]
COLUMNS = ["ft_seed", "kind", "row", "role", "size", "statistic", "sets", "column", "group", "subset", "n", *VALUES]


def draw(tables, settings, context):
    """No figure, and a tidy frame: one row per kind of ablation and cell of the table.

    row: what is ablated. statistic: "one" ablation, or of several the "mean" or the "largest drop" in this column.
    sets: how many ablations that are. column: a subset, or the mean of a group (subset null). n: pairs. accuracy in
    percent; change and interaction in points, their intervals null where the table has none.
    """
    ablations = tables["ablations"]
    ablations = some(ablations[ablations["step"] == context.last], f"ablations at step {context.last}")
    groups = subset_groups(ablations, shown(settings, context))
    cells = pd.concat([_group_cells(ablations), _subset_cells(ablations, list(groups))])
    columns = list(dict.fromkeys(cells["column"]))
    first = ablations["kind"].iloc[0]
    rows = [
        row.assign(kind=kind).sort_values("column", key=lambda names: names.map(columns.index), kind="stable")
        for ft_seed in ft_seeds(cells)
        for kind, kind_cells in cells[cells["ft_seed"] == ft_seed].groupby("kind", sort=False)
        for row in _rows(kind_cells, with_others=kind == first)
    ]
    return None, pd.concat(rows, ignore_index=True)[COLUMNS]


def _subset_cells(ablations: pd.DataFrame, subsets: list[str]) -> pd.DataFrame:
    cells = ablations[ablations["subset"].isin(subsets)]
    cells = cells.assign(column=cells["subset"].map(subset_label))
    return cells.sort_values("subset", key=lambda names: names.map(subsets.index), kind="stable")


def _group_cells(ablations: pd.DataFrame) -> pd.DataFrame:
    cells = ablations[ablations["subset"].isna()]
    cells = cells.assign(column=cells["group"].map(group_label))
    return cells.sort_values("group", key=lambda names: names.map(MEASURED.index), kind="stable")


def _rows(cells: pd.DataFrame, with_others: bool) -> Iterator[pd.DataFrame]:
    """The rows of one fine-tuning seed and kind. with_others: all heads outside the core were ablated, too."""
    yield _one(some(cells[cells["role"] == "none"], "full model (ablation 'none')"), "none")
    others = cells[cells["role"] == "non-core"]
    if with_others and len(others):
        yield _mean(others, "mean of {} heads outside the core")
    core = cells[cells["role"] == "core"]
    for head in sorted(core["ablation"].unique(), key=_layer_and_head):
        yield _one(core[core["ablation"] == head], _label(head))
    joint = cells[cells["role"].isin(JOINT)]
    if not joint["role"].isin(["strongest", "core-all"]).any():  # a core of two is one pair, and no larger set
        joint = cells[cells["role"].isin([*JOINT, "pair"])]
    for name in joint["ablation"].unique():
        yield _one(joint[joint["ablation"] == name], _label(name))
    for layers in joint["layers"].unique():
        controls = cells[(cells["role"] == "control") & (cells["layers"] == layers)]
        if len(controls):
            yield _mean(controls, f"mean of {{}} controls in layers {layers}")
            yield _costliest(controls, f"largest drop among {{}} controls in layers {layers}")
    for role, name in NAMES.items():
        whole, controls = (cells[cells["role"] == of] for of in (role, control_role(role)))
        if len(whole):
            yield _one(whole, name)
        if len(controls):
            yield _mean(controls, f"mean of {{}} controls of {name}")


def _label(name: str) -> str:
    """For instance "head 2.5", "heads 2.5 + 3.7" or "all core heads"."""
    if name == "core-all":
        return "all core heads"
    return f"heads {name.replace('+', ' + ')}" if "+" in name else f"head {name}"


def _layer_and_head(name: str) -> tuple[int, ...]:
    return tuple(map(int, name.split(".")))


def _one(cells: pd.DataFrame, row: str) -> pd.DataFrame:
    return cells.assign(row=row, statistic="one", sets=1)


def _mean(cells: pd.DataFrame, row: str) -> pd.DataFrame:
    """The mean over ablations in every column; null where one is missing. Such a mean has no interval."""
    of_column = cells.groupby("column", sort=False)
    count = cells["ablation"].nunique()
    means = {value: of_column[value].agg(lambda values: values.mean(skipna=False)) for value in ("accuracy", "change")}
    first = of_column[["ft_seed", "role", "size", "group", "subset", "n"]].agg(lambda values: values.iloc[0])
    named = first.assign(**means, row=row.format(count), statistic="mean", sets=count)
    return named.reset_index().reindex(columns=COLUMNS)


def _costliest(cells: pd.DataFrame, row: str) -> pd.DataFrame:
    """The ablation with the lowest change in every column, which may differ from column to column."""
    known = cells.dropna(subset="change")
    lowest = known.loc[known.groupby("column")["change"].idxmin()]
    count = cells["ablation"].nunique()
    return lowest.assign(row=row.format(count), statistic="largest drop", sets=count)


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """For each fine-tuning seed the paper's table of the first kind of ablation, and the kinds side by side."""
    found = []
    for ft_seed in ft_seeds(marks):
        own = marks[marks["ft_seed"] == ft_seed]
        kinds = list(dict.fromkeys(own["kind"]))
        found.append(_by_set(own[own["kind"] == kinds[0]], f"Fine-tuning seed {ft_seed}, {kinds[0]} ablation"))
        compared = own[own["subset"].isna() & (own["role"] != "none") & (own["statistic"] != "largest drop")]
        compared = compared[~compared["role"].isin(FIRST_KIND_ALONE)]
        if len(kinds) > 1 and len(compared):
            found.append(_by_kind(compared, f"Fine-tuning seed {ft_seed}, by kind of ablation"))
    return found


def _by_set(marks: pd.DataFrame, title: str) -> Sheet:
    """Accuracy (change; its interval), and under every set of heads its interaction (interval)."""
    columns, rows = list(dict.fromkeys(marks["column"])), []
    for name, of_row in marks.groupby("row", sort=False):
        cells = {cell.column: cell for cell in of_row.itertuples()}
        rows.append([name, *(_accuracy(cells.get(column)) for column in columns)])
        if of_row["interaction"].notna().any():
            texts = (_with_interval(cells.get(column), "interaction") for column in columns)
            rows.append([f"interaction of {name}", *texts])
    return Sheet(title, ["ablated", *columns], rows)


def _by_kind(marks: pd.DataFrame, title: str) -> Sheet:
    """Accuracy (change; its interval) of group means, the kinds of a set of heads below one another."""
    groups, rows = list(dict.fromkeys(marks["group"])), []
    for name, of_row in marks.groupby("row", sort=False):
        for kind, kind_rows in of_row.groupby("kind", sort=False):
            cells = {cell.group: cell for cell in kind_rows.itertuples()}
            rows.append([name, kind, *(_accuracy(cells.get(group)) for group in groups)])
    return Sheet(title, ["ablated", "replaced by", *(ROLES[group].label for group in groups)], rows)


def _accuracy(cell) -> str:
    if cell is None or cell.role == "none" or pd.isna(cell.change):
        return "" if cell is None else number(cell.accuracy)
    change = signed(cell.change)
    if pd.notna(cell.change_low):
        change += f"; {signed(cell.change_low)} to {signed(cell.change_high)}"
    return f"{number(cell.accuracy)} ({change})"


def _with_interval(cell, value: str) -> str:
    """A signed value with its interval in brackets, where it has one."""
    if cell is None:
        return ""
    middle, low, high = (signed(getattr(cell, f"{value}{end}")) for end in ("", "_low", "_high"))
    return f"{middle} ({low} to {high})" if low else middle
