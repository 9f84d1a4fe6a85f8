"""Estimate what subnetworks lose without the core: pruning with the core closed against random sets of heads closed.

If subnetworks competed, another subnetwork would do as well in-domain when the core cannot be kept. If all subnetworks
depend on the core, no other does (paper, section 4).

The difference D is the mean over pruning runs with the core closed, minus the mean over random sets. Each random set
has as many heads in the same layers, may include core heads, and is closed in one run. Both are independent samples of
runs, so the interval of D is Welch's. Runs of the same closed set are not a sample of sets, so the p-value is from a
permutation test over sets: the core against all random sets, each represented by the mean over its runs. With 40 random
sets the p-value is at least 2 / 41, so p < 0.05 requires the core to be the most extreme set. With fewer sound sets,
the p-value of one fine-tuning seed is never below 0.05. A mean over many runs varies less than one run of a random set,
which makes the test conservative.

Runs that failed, collapsed or missed their target are left out and counted. Leaving out a collapsed run with the core
closed underestimates the cost of closing the core.
"""

import warnings
from collections.abc import Collection

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.accuracy import (
    ENTAILMENT,
    ID,
    OOD,
    J,
    aggregate,
    select_subsets,
)
from heuristic_core.experiments.subnetworks.analysis.outcomes import mark_faults
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.randomisation import TIE_TOLERANCE, tail_p_values
from heuristic_core.tables.columns import RUN, STEP, SUBSET

CORE_FREE, CONTROL = "core-free", "control"
NO_MID = "no sound mid-sparsity subnetwork"
MEASURES = {"accuracy": "accuracy", "kl": "kl"}  # measure -> column of table "accuracy"
RUNS = [*RUN, *STEP, "sparsity"]


def compute_core_free_runs(
    design: pd.DataFrame, outcomes: pd.DataFrame, groups: pd.DataFrame, mid: float | None, margin: float
) -> pd.DataFrame:
    """Compute table "core_free_runs".

    Args:
        design: Columns number, role, set, seed and closed, one row per run.
        outcomes: Table "runs" of these runs; its pruning seed is the number in `design`.
        groups: Table "group_accuracy" of these runs; its pruning seed is the number in `design`.
        mid: Mean ID accuracy of the sound mid-sparsity subnetworks, percent; None if there are none.
        margin: Largest drop in ID accuracy of a faithful subnetwork, points.

    Returns:
        Table "core_free_runs".
    """
    levels = groups.pivot(index="seed", columns="group", values="accuracy").reindex(columns=[ID, OOD, ENTAILMENT, J])
    levels.columns = ["id_accuracy", "ood_accuracy", "entailment_accuracy", "j"]
    rows = outcomes.drop(columns="id_accuracy").rename(columns={"seed": "number"})
    rows = rows.merge(design, on="number").merge(levels, left_on="number", right_index=True, how="left")
    sound = ~mark_faults(rows).any(axis="columns")
    if mid is None:
        reasons = rows["reason"].where(rows["reason"].notna(), NO_MID)
        return make_frame("core_free_runs", rows.assign(sound=sound, reason=reasons))
    faithful = (rows["id_accuracy"] > mid - margin).where(rows["id_accuracy"].notna())
    return make_frame("core_free_runs", rows.assign(mid_id_accuracy=mid, faithful=faithful, sound=sound))


def compute_core_free(runs: pd.DataFrame, levels: pd.DataFrame) -> pd.DataFrame:
    """Compute table "core_free".

    Args:
        runs: Table "core_free_runs" of one fine-tuning run.
        levels: Values of all runs that did not fail, from :func:`collect_values`.

    Returns:
        Table "core_free".
    """
    identity = runs[RUNS].iloc[0].to_dict() if len(runs) else {}
    sound = runs.loc[runs["sound"], ["role", "set", "seed"]]
    excluded = runs[~runs["sound"] & runs["closed"].notna()]  # closed is null for sets that do not exist
    counts = {
        name: int((excluded["role"] == role).sum())
        for name, role in (("left_out", CORE_FREE), ("left_out_control", CONTROL))
    }
    keys, rows = ["measure", *SUBSET], []
    merged = levels.merge(sound, on=["role", "set", "seed"], how="left", indicator="matched")
    for key, cell in merged.groupby(keys, dropna=False, sort=False):
        values = cell[cell["matched"] == "both"].dropna(subset="value")
        rows.append(identity | dict(zip(keys, key, strict=True)) | _compare(values) | counts)
    return make_frame("core_free", rows)


def _compare(values: pd.DataFrame) -> dict:
    """Return the columns of means, difference and tests, from columns role, set and value of sound runs."""
    core_runs, control_runs = (values[values["role"] == role] for role in (CORE_FREE, CONTROL))
    sets = control_runs.groupby("set")["value"].mean().to_numpy()
    row = {"n": len(core_runs), "n_control": len(sets)}
    if core_runs.empty or not len(sets):
        condition = "with the core closed" if core_runs.empty else "of a random set"
        return row | {"reason": f"no sound run {condition}"}
    mean, control = core_runs["value"].mean(), sets.mean()
    higher, lower = tail_p_values(sets, mean)
    row |= {"core_free": mean, "control": control, "difference": mean - control}
    row |= {"p_lower": lower, "p_higher": higher}
    if min(len(core_runs), len(sets)) < 2:
        return row | {"reason": "one run alone has no interval"}
    if max(core_runs["value"].std(), sets.std()) < TIE_TOLERANCE:
        return row | {"reason": "runs do not differ, so that there is no interval"}
    with warnings.catch_warnings():  # one sample may be constant, at a floor
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        interval = stats.ttest_ind(core_runs["value"], sets, equal_var=False).confidence_interval(0.95)
    return row | {"low": interval.low, "high": interval.high}


def collect_values(
    accuracy: pd.DataFrame,
    groups: pd.DataFrame,
    families: pd.DataFrame,
    design: pd.DataFrame,
    subsets: Collection[str] | None = None,
) -> pd.DataFrame:
    """Collect the values of all runs by subset, group and family: accuracy, J, AUC, and KL from the full model.

    Args:
        accuracy: Table "accuracy"; its pruning seed is the number of a run in `design`.
        groups: Table "group_accuracy"; its pruning seed is the number of a run in `design`.
        families: Table "family_scores"; its pruning seed is the number of a run in `design`.
        design: Columns number, role, set, seed and closed, one row per run.
        subsets: Subsets that enter means; None for all.

    Returns:
        Columns role, set, seed, closed, measure, value and `SUBSET`.
    """
    selected = select_subsets(accuracy, subsets)
    family_means = aggregate(selected[selected["family"].notna()], ["seed", "group", "family"], [*MEASURES.values()])
    parts = [accuracy, groups, family_means, families[families["family"].notna()]]
    wide = pd.concat([part.reindex(columns=["seed", *SUBSET, *MEASURES.values()]) for part in parts])
    long = wide.melt(["seed", *SUBSET], list(MEASURES.values()), "measure", "value")
    long = long[(long["measure"] == "accuracy") | ~long["group"].isin(["j", "auc"])]
    long = long.astype({"subset": object, "group": object, "family": object}).rename(columns={"seed": "number"})
    long["value"] = np.asarray(long["value"], dtype=float)
    return long.merge(design, on="number").drop(columns="number")
