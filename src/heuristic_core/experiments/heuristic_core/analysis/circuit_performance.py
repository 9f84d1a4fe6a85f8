"""CPR and CMD of subnetworks: how much of a model its subnetworks keep over all sizes, without a threshold.

The measures are those of MIB (Mueller et al. 2025): with m an accuracy or J, and f(C) = (m(C) - m(empty)) / (m(full) -
m(empty)) of a subnetwork C,

CPR  the circuit performance ratio, the integral of f over the share of components kept;
CMD  the circuit-model distance, the integral of |1 - f| over the same.

The integrals are trapezoids over the grid of sparsities, from the empty circuit, f = 0, to the full model, f = 1. They
are in percent, and so on the scale of effective size: where f is 0 below a size and 1 from there on, CMD is this size,
and CPR 100 minus this size. Where no subnetwork does better than the full model, CPR is 100 - CMD. A subnetwork that
rejects every overlap does better on OOD: it raises CPR, and CMD too. CMD thus is the size that claims compare.

The empty circuit is the model with all components ablated. Where a classifier reads one fixed token, as BERT's does, it
gives one class to all pairs, and training does not decide which: on OOD its accuracy is 0 or 100, its J is 0.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.experiments.heuristic_core.analysis.accuracy import CELLS, ID, OOD, J, group_means
from heuristic_core.experiments.heuristic_core.analysis.bounds import interval_between
from heuristic_core.experiments.heuristic_core.analysis.effective_size import MISSING, UNDEFINED
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.tables.columns import RUN

GROUPS = (ID, OOD, J)
MEASURES = ("cpr", "cmd")


def circuit_performance(
    groups: pd.DataFrame, empty: pd.DataFrame, runs: pd.DataFrame, analysis: Analysis, context: Context
) -> pd.DataFrame:
    """Table "circuit_performance".

    groups: table "group_accuracy". empty: table "empty_circuit". runs: table "runs", which has the shares removed.
    analysis: margin, and the subsets that enter group means. context: the curve's seeds and run, and the steps.
    A seed's interval is over evaluation pairs: a subnetwork's change from the full model, whose errors are taken as
    wholly dependent over sparsities, and the full model's own. The interval of the mean is over seeds (Student's t) and
    pairs; it is null where all seeds are equal. Both are undefined where m(full) - m(empty) is not above the margin,
    by the lower end of the full model's interval, and missing where a sparsity of the run is.
    """
    of_curve = groups["seed"].isin(context.curve_seeds) & (groups["repeat"] == context.curve_repeat)
    rows = groups[groups["step"].isin(context.checkpoints) & (groups["seed"].isna() | of_curve)]
    rows = rows[rows["group"].isin(GROUPS)].merge(runs[[*CELLS, "actual_sparsity"]], on=CELLS, how="left")
    nothing = group_means(empty, analysis.subsets).set_index([*RUN, "step", "group"])["accuracy"]
    found = []
    for run, of_run in rows.groupby([*RUN]):
        sparsities = sorted(of_run.loc[of_run["seed"].notna(), "sparsity"].unique())
        for (step, group), cells in of_run.groupby(["step", "group"]):
            about = dict(zip(RUN, run, strict=True)) | {"step": step, "group": group}
            of_empty = nothing.get((*run, step, group), np.nan)
            found += [about | row for row in _of_group(cells, of_empty, sparsities, analysis.margin, context)]
    return frame("circuit_performance", found)


def _of_group(
    cells: pd.DataFrame, of_empty: float, sparsities: list[float], margin: float, context: Context
) -> Iterator[dict]:
    """A row for each seed, and one over seeds, of one checkpoint and group."""
    full = cells[cells["seed"].isna()]
    value = float(full["accuracy"].iloc[0]) if len(full) else np.nan
    reach = float(_reach(full, "").iloc[0]) if len(full) else 0.0
    about = {"full_accuracy": value, "empty_accuracy": of_empty}
    room, reason = value - of_empty, _reason(value, reach, of_empty, margin)
    seeds = []
    for seed in context.curve_seeds:
        own = (
            cells[cells["seed"] == seed]
            .dropna(subset="accuracy")
            .sort_values("actual_sparsity", ascending=False, kind="stable")
        )
        absent = [f"{sparsity:g}" for sparsity in sparsities if sparsity not in set(own["sparsity"])]
        why = reason or (f"{MISSING}: no subnetworks at sparsity {', '.join(absent)}" if absent else None)
        row = {"seed": seed, "n_seeds": int(why is None), "reason": why}
        if why is None:
            row |= _areas(own, of_empty, room, reach)
            for name in MEASURES:
                row |= _ends(name, row[name] - row["reach"], row[name] + row["reach"])
            seeds.append(row)
        yield about | row
    if not seeds:
        why = reason or f"{MISSING}: subnetworks of pruning seeds {', '.join(map(str, context.curve_seeds))}"
        yield about | {"n_seeds": 0, "reason": why}
        return
    yield about | {"n_seeds": len(seeds)} | _over_seeds(pd.DataFrame(seeds))


def _reason(value: float, reach: float, of_empty: float, margin: float) -> str | None:
    if np.isnan([value, of_empty]).any():
        return f"{MISSING}: the {'full model' if np.isnan(value) else 'empty circuit'} was not evaluated"
    if value - of_empty - reach > margin:
        return None
    said = f"the full model at {value:.1f} (± {reach:.1f}) is not above the empty circuit at {of_empty:z.1f}"
    return f"{UNDEFINED}: {said} by more than the margin of {margin:g} points"


def _reach(rows: pd.DataFrame, of: str) -> pd.Series:
    """Half-widths of intervals over pairs, 0 where unknown. of: "" or "change_"."""
    return ((rows[f"{of}high"] - rows[f"{of}low"]) / 2).fillna(0)


def _areas(own: pd.DataFrame, of_empty: float, room: float, reach: float) -> dict:
    """CPR and CMD of one seed, percent, and how far its pairs let either be off. own: by ascending share kept."""
    kept = np.array([0.0, *(1 - own["actual_sparsity"]), 1.0])
    f = np.array([0.0, *((own["accuracy"] - of_empty) / room), 1.0])
    gaps = np.diff(kept)
    weights = 100 * (np.append(0, gaps) + np.append(gaps, 0)) / 2
    of_changes = (weights[1:-1] * _reach(own, "change_") / room).sum()
    # The distance from the full model is relative to m(full) - m(empty), which the full model's errors move.
    of_full = abs((weights[1:-1] * (1 - f[1:-1])).sum()) * reach / room
    return {"cpr": weights @ f, "cmd": weights @ abs(1 - f), "reach": float(np.hypot(of_changes, of_full))}


def _over_seeds(seeds: pd.DataFrame) -> dict:
    row = {"reach": seeds["reach"].mean()}
    for name in MEASURES:
        low, high = interval_between(seeds[name], seeds[name], seeds["reach"])
        row |= {name: seeds[name].mean()} | _ends(name, low, high)
    return row


def _ends(name: str, low: float, high: float) -> dict:
    """The columns of an interval; a distance is not below 0."""
    return {f"{name}_low": np.maximum(low, 0) if name == "cmd" else low, f"{name}_high": high}
