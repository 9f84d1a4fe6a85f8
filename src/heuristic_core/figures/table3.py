"""Table 3: accuracy of the full model with core heads ablated, by themselves and together."""

from collections.abc import Iterator

import pandas as pd

from heuristic_core.figures.rows import GROUPS, ft_seeds, shown, some, subset_groups
from heuristic_core.figures.style import ROLES

JOINT = ("strongest", "core-all")  # roles of the sets that are shown
VALUES = ["accuracy", "change", "change_low", "change_high"]
COLUMNS = ["ft_seed", "row", "role", "size", "sets", "column", "group", "n", *VALUES]


def draw(tables, settings, context):
    """No figure, and a tidy frame: one row per cell of the table.

    row: what is ablated. sets: how many ablations the cell stands for: their mean, or the one that costs most in this
    column. column: a subset, or the mean of a group. n: pairs. accuracy in percent; change in points,
    its interval null where the table has none.
    """
    ablations = tables["ablations"]
    ablations = some(ablations[ablations["step"] == context.last], f"ablations at step {context.last}")
    groups = subset_groups(ablations, shown(settings, context))
    cells = pd.concat([_subset_cells(ablations, list(groups)), _group_cells(ablations)])
    columns = list(dict.fromkeys(cells["column"]))
    rows = [row for ft_seed in ft_seeds(cells) for row in _rows(cells[cells["ft_seed"] == ft_seed])]
    frame = pd.concat([_in_order(row, columns) for row in rows], ignore_index=True)
    return None, frame[COLUMNS]


def _subset_cells(ablations: pd.DataFrame, subsets: list[str]) -> pd.DataFrame:
    cells = ablations[ablations["subset"].isin(subsets)].assign(column=ablations["subset"])
    return cells.sort_values("column", key=lambda names: names.map(subsets.index), kind="stable")


def _group_cells(ablations: pd.DataFrame) -> pd.DataFrame:
    cells = ablations[ablations["subset"].isna()]
    cells = cells.assign(column=[f"{ROLES[group].label}, mean" for group in cells["group"]])
    return cells.sort_values("group", key=lambda names: names.map(GROUPS.index), kind="stable")


def _in_order(row: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return row.sort_values("column", key=lambda names: names.map(columns.index), kind="stable")


def _rows(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The rows of one fine-tuning seed."""
    yield _one(some(cells[cells["role"] == "none"], "full model (ablation 'none')"), "none")
    if len(others := cells[cells["role"] == "non-core"]):
        yield _mean(others, "mean of {} heads outside the core")
    core = cells[cells["role"] == "core"]
    for head in sorted(core["ablation"].unique(), key=_layer_and_head):
        yield _one(core[core["ablation"] == head], _label(head))
    joint = cells[cells["role"].isin(JOINT)]
    if joint.empty:
        joint = cells[cells["role"] == "pair"]  # a core of two has this set alone, a core of one has none
    for name in joint["ablation"].unique():
        yield _one(joint[joint["ablation"] == name], _label(name))
    for name in [*joint["ablation"].unique(), *core["ablation"].unique()]:
        if len(controls := cells[(cells["role"] == "control") & (cells["matches"] == name)]):
            yield _mean(controls, f"mean of {{}} controls of {_label(name)}")
            yield _costliest(controls, f"largest drop among {{}} controls of {_label(name)}")


def _label(name: str) -> str:
    """For instance "head 2.5", "heads 2.5 + 3.7" or "all core heads"."""
    if name == "core-all":
        return "all core heads"
    return f"heads {name.replace('+', ' + ')}" if "+" in name else f"head {name}"


def _layer_and_head(name: str) -> tuple[int, ...]:
    return tuple(map(int, name.split(".")))


def _one(cells: pd.DataFrame, row: str) -> pd.DataFrame:
    return cells.assign(row=row, sets=1)


def _mean(cells: pd.DataFrame, row: str) -> pd.DataFrame:
    """The mean over ablations in every column; null where one is missing. Such a mean has no interval."""
    means = cells.groupby(["ft_seed", "role", "column", "group"], as_index=False).agg(
        size=("size", "first"), n=("n", "first"), sets=("ablation", "nunique"),
        **{value: (value, lambda values: values.mean(skipna=False)) for value in ("accuracy", "change")},
    )  # fmt: skip
    return means.assign(row=row.format(means["sets"].max())).reindex(columns=COLUMNS)


def _costliest(cells: pd.DataFrame, row: str) -> pd.DataFrame:
    """The ablation with the lowest change in every column, which may differ from column to column."""
    known = cells.dropna(subset="change")
    lowest = known.loc[known.groupby("column")["change"].idxmin()]
    count = cells["ablation"].nunique()
    return lowest.assign(row=row.format(count), sets=count)


def to_markdown(frame: pd.DataFrame) -> str:
    """The frame that `draw` gave as Markdown: a table for each fine-tuning seed, rows as in the paper's table 3.

    A cell is accuracy (change, interval of change); a missing cell is empty.
    """
    lines = []
    for ft_seed in ft_seeds(frame):
        of_seed = frame[frame["ft_seed"] == ft_seed]
        columns = list(dict.fromkeys(of_seed["column"]))
        lines += [
            f"## Fine-tuning seed {ft_seed}",
            "",
            _line(["ablated", *columns]),
            _line(["---"] * (len(columns) + 1)),
        ]
        for name, row in of_seed.groupby("row", sort=False):
            texts = {cell.column: _text(cell) for cell in row.itertuples()}
            lines.append(_line([name, *(texts.get(column, "") for column in columns)]))
        lines.append("")
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(cell) -> str:
    if pd.isna(cell.accuracy):
        return ""
    if cell.role == "none" or pd.isna(cell.change):
        return f"{cell.accuracy:.1f}"
    change = _signed(cell.change)
    if pd.notna(cell.change_low) and pd.notna(cell.change_high):
        change += f"; {_signed(cell.change_low)} to {_signed(cell.change_high)}"
    return f"{cell.accuracy:.1f} ({change})"


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−")
