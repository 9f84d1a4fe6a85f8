"""Compute CPR and CMD: how much of a model its subnetworks retain over all sizes, without a threshold.

The measures are those of MIB (Mueller et al. 2025). Let m be an accuracy or J, and let f(C) = (m(C) - m(empty)) /
(m(full) - m(empty)) for a subnetwork C. The circuit performance ratio CPR is the integral of f over the share of
components kept. The circuit-model distance CMD is the integral of |1 - f| over the same share.

The integrals use the trapezoidal rule over the grid of sparsities, from the empty circuit, f = 0, to the full model,
f = 1. They are in percent and comparable with effective size: if f is 0 below a size and 1 from there on, CMD is this
size and CPR is 100 minus this size. If no subnetwork exceeds the full model, CPR is 100 - CMD. A subnetwork that
rejects every overlap pair exceeds the full model on OOD, which raises both CPR and CMD. Claims therefore compare CMD.

The empty circuit is the model with all components ablated. If a classifier reads one fixed token, as BERT's does, the
empty circuit predicts the same class for all pairs, and which class is not determined by training: its OOD accuracy is
0 or 100, and its J is 0.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from heuristic_core.common.errors import format_points
from heuristic_core.experiments.subnetworks.analysis.accuracy import CELL_KEYS, ID, OOD, J, compute_group_means
from heuristic_core.experiments.subnetworks.analysis.size_states import MISSING, UNDEFINED
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.bounds import compute_bounded_interval
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.columns import RUN

GROUPS = (ID, OOD, J)
MEASURES = ("cpr", "cmd")


def compute_circuit_performance(
    groups: pd.DataFrame, empty: pd.DataFrame, runs: pd.DataFrame, analysis: Analysis, context: Context
) -> pd.DataFrame:
    """Compute table "circuit_performance".

    The interval of a seed is over evaluation pairs. It combines the changes of the subnetworks from the full model,
    whose errors are taken as fully dependent over sparsities, with the full model's interval. The interval of the mean
    is over seeds and pairs, and null for fewer than six seeds. It assumes that performance is between the empty
    circuit's and the full model's, so that both measures are from 0 to 100 (further for seeds beyond).

    Both measures are undefined unless m(full) - m(empty) exceeds the margin at the lower end of the full model's
    interval. They are missing if a sparsity of the run is missing.

    Args:
        groups: Table "group_accuracy".
        empty: Table "empty_circuit".
        runs: Table "runs", with the actual sparsities.
        analysis: Settings `margin` and `subsets` (those that enter group means).
        context: Seeds and repeat of the curve, and the checkpoints.

    Returns:
        Table "circuit_performance".
    """
    on_curve = groups["seed"].isin(context.curve_seeds) & (groups["repeat"] == context.curve_repeat)
    models = groups[groups["step"].isin(context.checkpoints) & (groups["seed"].isna() | on_curve)]
    models = models[models["group"].isin(GROUPS)].merge(runs[[*CELL_KEYS, "actual_sparsity"]], on=CELL_KEYS, how="left")
    empty_values = compute_group_means(empty, analysis.subsets).set_index([*RUN, "step", "group"])["accuracy"]
    rows = []
    for run, run_rows in models.groupby([*RUN]):
        sparsities = sorted(run_rows.loc[run_rows["seed"].notna(), "sparsity"].unique())
        for (step, group), cells in run_rows.groupby(["step", "group"]):
            identity = dict(zip(RUN, run, strict=True)) | {"step": step, "group": group}
            empty_value = empty_values.get((*run, step, group), np.nan)
            rows += [identity | row for row in _group_rows(cells, empty_value, sparsities, analysis.margin, context)]
    return make_frame("circuit_performance", rows)


def _group_rows(
    cells: pd.DataFrame, empty_value: float, sparsities: list[float], margin: float, context: Context
) -> Iterator[dict]:
    """Yield a row for each seed, and a row for the mean over seeds, of a checkpoint and group."""
    full = cells[cells["seed"].isna()]
    full_value = float(full["accuracy"].iloc[0]) if len(full) else np.nan
    half_width = float(_half_widths(full, "").iloc[0]) if len(full) else 0.0
    identity = {"full_accuracy": full_value, "empty_accuracy": empty_value}
    span, reason = full_value - empty_value, _reason(full_value, half_width, empty_value, margin)
    seeds = []
    for seed in context.curve_seeds:
        subnetworks = (
            cells[cells["seed"] == seed]
            .dropna(subset="accuracy")
            .sort_values("actual_sparsity", ascending=False, kind="stable")
        )
        missing = [f"{sparsity:g}" for sparsity in sparsities if sparsity not in set(subnetworks["sparsity"])]
        seed_reason = reason or (f"{MISSING}: no subnetworks at sparsity {', '.join(missing)}" if missing else None)
        row = {"seed": seed, "n_seeds": int(seed_reason is None), "reason": seed_reason}
        if seed_reason is None:
            row |= _integrate(subnetworks, empty_value, span, half_width)
            for name in MEASURES:
                row |= _interval_columns(name, row[name] - row["reach"], row[name] + row["reach"])
            seeds.append(row)
        yield identity | row
    if not seeds:
        mean_reason = reason or f"{MISSING}: subnetworks of pruning seeds {', '.join(map(str, context.curve_seeds))}"
        yield identity | {"n_seeds": 0, "reason": mean_reason}
        return
    yield identity | {"n_seeds": len(seeds)} | _average_seeds(pd.DataFrame(seeds))


def _reason(full_value: float, half_width: float, empty_value: float, margin: float) -> str | None:
    """Return why CPR and CMD are missing or undefined, or None if they are defined."""
    if np.isnan([full_value, empty_value]).any():
        return f"{MISSING}: the {'full model' if np.isnan(full_value) else 'empty circuit'} was not evaluated"
    if full_value - empty_value - half_width > margin:
        return None
    finding = (
        f"the full model at {full_value:z.1f} (± {half_width:.1f}) is not above the empty circuit at {empty_value:z.1f}"
    )
    return f"{UNDEFINED}: {finding} by more than the margin of {format_points(margin)}"


def _half_widths(rows: pd.DataFrame, prefix: str) -> pd.Series:
    """Return half-widths of intervals over pairs, 0 if unknown; `prefix` is "" or "change_"."""
    return ((rows[f"{prefix}high"] - rows[f"{prefix}low"]) / 2).fillna(0)


def _integrate(subnetworks: pd.DataFrame, empty_value: float, span: float, half_width: float) -> dict:
    """Compute CPR and CMD of a seed, percent, and the half-width of their interval over pairs.

    Args:
        subnetworks: Rows by ascending share of components kept.
        empty_value: m(empty).
        span: m(full) - m(empty).
        half_width: Half-width of the full model's interval.
    """
    kept = np.array([0.0, *(1 - subnetworks["actual_sparsity"]), 1.0])
    f = np.array([0.0, *((subnetworks["accuracy"] - empty_value) / span), 1.0])
    gaps = np.diff(kept)
    weights = 100 * (np.append(0, gaps) + np.append(gaps, 0)) / 2
    change_error = (weights[1:-1] * _half_widths(subnetworks, "change_") / span).sum()
    # The full model's error changes the denominator m(full) - m(empty).
    full_error = abs((weights[1:-1] * (1 - f[1:-1])).sum()) * half_width / span
    return {"cpr": weights @ f, "cmd": weights @ abs(1 - f), "reach": float(np.hypot(change_error, full_error))}


def _average_seeds(seeds: pd.DataFrame) -> dict:
    """Return the means of both measures over seeds, with intervals."""
    row = {"reach": seeds["reach"].mean()}
    for name in MEASURES:
        limits = min(0.0, seeds[name].min()), max(100.0, seeds[name].max())
        low, high = compute_bounded_interval(seeds[name], seeds[name], seeds["reach"], limits)
        row |= {name: seeds[name].mean()} | _interval_columns(name, low, high)
    return row


def _interval_columns(name: str, low: float, high: float) -> dict:
    """Return the columns of an interval, with the lower end of CMD at least 0."""
    return {f"{name}_low": np.maximum(low, 0) if name == "cmd" else low, f"{name}_high": high}
