"""Key numbers of a study for the first screen of its report, from its tables."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, OOD, J
from heuristic_core.experiments.subnetworks.analysis.outcomes import format_counts, mark_faults
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.figures.text import format_number, format_percent
from heuristic_core.report.render import format_interval
from heuristic_core.report.render import format_number as format_count
from heuristic_core.report.study import Tile
from heuristic_core.tables.parquet import read_table

CORE_SET = "mid+high"  # of table core_null
TABLES = ("group_accuracy", "summary", "runs", "core_null", "core", "ablations")


def build_tiles(root: Path, context: Context, heuristic: str | None) -> list[Tile]:
    """Return the key numbers that a study's tables have.

    Args:
        root: The study's folder.
        context: Context of the study.
        heuristic: The heuristic that the task declares, if any.
    """
    paths = {name: root / "tables" / f"{name}.parquet" for name in TABLES}
    tables = {name: read_table(path) for name, path in paths.items() if path.is_file()}
    return [*_full_model(tables, context, heuristic), *_runs(tables), *_core(tables, context)]


def _full_model(tables: Mapping[str, pd.DataFrame], context: Context, heuristic: str | None) -> list[Tile]:
    """Return the full model's ID accuracy, OOD accuracy and J at the last checkpoint."""
    if "group_accuracy" not in tables:
        return []
    rows = tables["group_accuracy"]
    rows = rows[(rows["sparsity"] == 0) & (rows["step"] == context.last)]
    notes = {
        ID: ("ID accuracy", " %", "in-domain: examples like those in training"),
        OOD: (
            "OOD accuracy",
            " %",
            "out-of-domain" + (f": examples on which {heuristic} would mislead" if heuristic else ""),
        ),
        J: ("J", "", "OOD + OOD-entailment accuracy − 100, mean over families"),
    }
    tiles = []
    for group, (label, unit, note) in notes.items():
        of_group = rows[rows["group"] == group].dropna(subset="accuracy")
        if of_group.empty:
            continue
        value, low, high = _mean_and_interval(of_group, group, tables.get("summary"))
        interval = format_interval(low, high)
        note += f" ({interval}{_seeds_text(len(of_group))})" if interval else ""
        tiles.append(Tile(f"{label} of the full model", f"{format_number(value, 1)}{unit}", note))
    return tiles


def _mean_and_interval(rows: pd.DataFrame, group: str, summary: pd.DataFrame | None) -> tuple[float, float, float]:
    """Return the only seed's accuracy, or the mean over seeds, and its 95 % interval, NaN where there is none."""
    if len(rows) == 1:
        return tuple(rows.iloc[0][["accuracy", "low", "high"]].astype(float))
    nothing = (float(rows["accuracy"].mean()), float("nan"), float("nan"))
    if summary is None:
        return nothing
    is_mean = summary["ft_seed"].isna() & summary["subset"].isna() & summary["family"].isna()
    means = summary[is_mean & (summary["group"] == group) & (summary["sparsity"] == 0)]
    return tuple(means.iloc[0][["mean", "low", "high"]].astype(float)) if len(means) == 1 else nothing


def _seeds_text(count: int) -> str:
    """Return what an interval is over if there are several fine-tuning seeds."""
    return f" over {count} fine-tuning seeds" if count > 1 else ""


def _runs(tables: Mapping[str, pd.DataFrame]) -> list[Tile]:
    """Return the number of pruning runs, and how many went wrong."""
    if "runs" not in tables or tables["runs"].empty:
        return []
    runs = tables["runs"]
    faults = format_counts(mark_faults(runs))
    return [
        Tile(
            "pruning runs",
            format_count(len(runs)),
            faults or "none failed, collapsed or missed its target",
            bool(faults),
        )
    ]


def _core(tables: Mapping[str, pd.DataFrame], context: Context) -> list[Tile]:
    """Return the size of the core with its size by chance, and the share of J that ablating it costs."""
    tiles = []
    if "core_null" in tables:
        sizes = tables["core_null"]
        sizes = sizes[sizes["set"] == CORE_SET].sort_values("ft_seed", kind="stable")
        if not sizes.empty:
            chance = " and ".join(dict.fromkeys(format_number(value, 1) for value in sizes["expected"]))
            number = sizes["n"].iloc[0]
            text = (
                f"kept by all {number} subnetworks of {format_percent(context.mid)} and {format_percent(context.high)}"
            )
            label = "head in the core" if (sizes["observed"] == 1).all() else "heads in the core"
            tiles.append(Tile(label, _join(sizes["observed"].map(format_count)), f"{text}; by chance {chance}"))
    lost = _shares_lost(tables)
    if len(lost):
        low, high = (100 * lost[column].astype(float) for column in ("low", "high"))
        intervals = " and ".join(format_interval(*ends) for ends in zip(low, high, strict=True))
        value = _join(f"{100 * share:.0f} %" for share in lost["share"])
        tiles.append(Tile("of J lost without the core", value, f"its heads' outputs replaced by means ({intervals})"))
    return tiles


def _shares_lost(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the share of J that ablating the whole core costs, with its interval, one row per fine-tuning seed."""
    if not {"ablations", "core"} <= tables.keys():
        return pd.DataFrame()
    ablations, core = tables["ablations"], tables["core"]
    names = core[core["in_core"].fillna(False).astype(bool)].groupby("ft_seed")["name"].agg("+".join)
    rows = ablations[(ablations["group"] == J) & ablations["subset"].isna() & ablations["family"].isna()]
    rows = rows[rows["kind"] == rows["kind"].iloc[:1].squeeze()] if len(rows) else rows
    full = rows[rows["ablation"] == "none"].set_index("ft_seed")["accuracy"].astype(float)
    rows = rows[rows["ablation"] == rows["ft_seed"].map(names)].sort_values("ft_seed", kind="stable")
    total = rows["ft_seed"].map(full)
    shares = pd.DataFrame(
        {"share": -rows["change"] / total, "low": -rows["change_high"] / total, "high": -rows["change_low"] / total}
    )
    return shares[(total > 0).fillna(False)]


def _join(values) -> str:
    """Join the values of fine-tuning seeds, such as "2, 1"."""
    return ", ".join(values)
