"""Key numbers of a study for the top of its report."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, J
from heuristic_core.experiments.subnetworks.analysis.outcomes import mark_faults
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.report.render import format_number
from heuristic_core.tables.parquet import read_table

MAX_SEEDS = 4  # fine-tuning seeds whose values are listed; of more, the range is


class Tile(NamedTuple):
    """A key number.

    Attributes:
        label: What it is.
        value: The number; of several fine-tuning seeds, the number of each.
        note: A remark.
    """

    label: str
    value: str
    note: str = ""


def build_tiles(root: Path, context: Context) -> list[Tile]:
    """Return the key numbers of a study, as far as it has the tables that they are from.

    Args:
        root: Folder of the study.
        context: Context of the study.
    """
    tables = {name: root / "tables" / f"{name}.parquet" for name in ("group_accuracy", "core", "core_null", "runs")}
    tables = {name: read_table(path) for name, path in tables.items() if path.is_file()}
    tiles = []
    if (groups := tables.get("group_accuracy")) is not None:
        last = groups[groups["step"] == context.last]
        full = last[last["seed"].isna()]
        tiles += [_full_tile(full, ID, "in-domain accuracy, %"), _full_tile(full, J, "J (out-of-domain), points")]
        tiles += [_spread_tile(last, context)]
    if (core := tables.get("core")) is not None:
        heads = core[core["kind"] == "head"]
        sizes = heads.groupby("ft_seed")["in_core"].sum()
        expected = _expected_core(tables.get("core_null"))
        tiles.append(Tile(f"heads in the core, of {len(heads) // len(sizes)}", _format(sizes, 0), expected))
    if (runs := tables.get("runs")) is not None:
        faulty = int(mark_faults(runs).any(axis="columns").sum())
        tiles.append(Tile("pruning runs", f"{len(runs)}", f"{faulty} failed, collapsed or missed their target"))
    return [tile for tile in tiles if tile is not None]


def _full_tile(full: pd.DataFrame, group: str, label: str) -> Tile | None:
    """Return the full model's accuracy on a group by fine-tuning seed; None if the study lacks it."""
    values = full[full["group"] == group].set_index("ft_seed")["accuracy"].dropna()
    return Tile(label, _format(values, 1), "of the full model") if len(values) else None


def _spread_tile(rows: pd.DataFrame, context: Context) -> Tile | None:
    """Return the range of J over the subnetworks of mid sparsity by fine-tuning seed; None if the study lacks it."""
    in_cell = (rows["sparsity"] == context.mid) & (rows["repeat"] == 0) & rows["seed"].isin(list(context.seeds))
    values = rows[in_cell & (rows["group"] == J)].dropna(subset="accuracy").groupby("ft_seed")["accuracy"]
    if not len(values):
        return None
    ranges = [
        f"{format_number(low)} to {format_number(high)}" for low, high in zip(values.min(), values.max(), strict=True)
    ]
    return Tile(
        "J of subnetworks, points",
        ", ".join(ranges[:MAX_SEEDS]),
        f"{len(context.seeds)} pruning seeds at {100 * context.mid:g} % sparsity",
    )


def _expected_core(core_null: pd.DataFrame | None) -> str:
    """Return a remark on the size of the core by chance; empty if it is unknown."""
    if core_null is None:
        return ""
    expected = core_null.loc[core_null["set"] == "mid+high", "expected"].dropna()
    return f"{format_number(float(expected.mean()))} expected by chance" if len(expected) else ""


def _format(values: pd.Series, digits: int) -> str:
    """Return values of few fine-tuning seeds, or the range of many."""
    texts = [f"{value:.{digits}f}".replace("-", "−") for value in values.astype(float)]
    return ", ".join(texts) if len(texts) <= MAX_SEEDS else f"{min(texts)} to {max(texts)}"
