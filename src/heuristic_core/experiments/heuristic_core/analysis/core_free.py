"""What subnetworks without the core lose: pruning with the core closed against random sets closed in its place.

If subnetworks competed, another one would do as well in-domain where the core may not be kept. If all of them rest on
the core, none does (paper, section 4).

D is the mean over pruning runs with the core closed minus the mean over random sets of as many other heads of the same
layers, one run each. Both are independent samples of runs, whose difference has Welch's interval. Runs of one closed
set are no sample of sets, so that p is a permutation test over sets: one set, the core, against all others, each by the
mean over its runs. With 40 random sets p is at least 2 / 41, so that p < 0.05 asks that the core is the most extreme of
all; with fewer sound sets no p of one fine-tuning seed is below 0.05. A mean over many runs varies less than one run of
a random set, which makes the test err towards no difference.

A run that failed, collapsed or missed its target is left out and counted. Leaving out a collapsed run with the core
closed makes the cost of the core smaller.
"""

import warnings

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.randomisation import TIE, tails
from heuristic_core.experiments.heuristic_core.analysis.accuracy import ENTAILMENT, ID, OOD, J, chosen, condensed
from heuristic_core.experiments.heuristic_core.analysis.outcomes import faults
from heuristic_core.tables.columns import RUN, STEP, SUBSET

CORE_FREE, CONTROL = "core-free", "control"
NO_MID = "no mid-sparsity subnetwork went well"
MEASURES = {"accuracy": "accuracy", "kl": "kl"}  # measure -> column of table "accuracy"
RUNS = [*RUN, *STEP, "sparsity"]


def core_free_runs(
    design: pd.DataFrame, became: pd.DataFrame, groups: pd.DataFrame, mid: float | None, margin: float
) -> pd.DataFrame:
    """Table "core_free_runs".

    design: columns number, role, set, seed and closed, a row for each run. became, groups: tables "runs" and
    "group_accuracy" of these runs, whose pruning seed is the number. mid: mean ID accuracy of the sound
    mid-sparsity subnetworks, percent; None without any. margin: points.
    """
    levels = groups.pivot(index="seed", columns="group", values="accuracy").reindex(columns=[ID, OOD, ENTAILMENT, J])
    levels.columns = ["id_accuracy", "ood_accuracy", "entailment_accuracy", "j"]
    rows = became.drop(columns="id_accuracy").rename(columns={"seed": "number"})
    rows = rows.merge(design, on="number").merge(levels, left_on="number", right_index=True, how="left")
    sound = ~faults(rows).any(axis="columns")
    if mid is None:
        why = rows["reason"].where(rows["reason"].notna(), NO_MID)
        return frame("core_free_runs", rows.assign(sound=sound, reason=why))
    faithful = (rows["id_accuracy"] > mid - margin).where(rows["id_accuracy"].notna())
    return frame("core_free_runs", rows.assign(mid_id_accuracy=mid, faithful=faithful, sound=sound))


def core_free(runs: pd.DataFrame, levels: pd.DataFrame) -> pd.DataFrame:
    """Table "core_free".

    runs: table "core_free_runs" of one fine-tuning run. levels: columns role, set, seed, measure, value and the
    subset's, of every run that did not fail, as :func:`levels_of` gives them.
    """
    about = runs[RUNS].iloc[0].to_dict() if len(runs) else {}
    sound = runs.loc[runs["sound"], ["role", "set", "seed"]]
    wrong = runs[~runs["sound"] & runs["closed"].notna()]  # without the sets that do not exist
    counts = {
        name: int((wrong["role"] == role).sum())
        for name, role in (("left_out", CORE_FREE), ("left_out_control", CONTROL))
    }
    keys, rows = ["measure", *SUBSET], []
    known = levels.merge(sound, on=["role", "set", "seed"], how="left", indicator="is")
    for key, of_key in known.groupby(keys, dropna=False, sort=False):
        here = of_key[of_key["is"] == "both"].dropna(subset="value")
        rows.append(about | dict(zip(keys, key, strict=True)) | compared(here) | counts)
    return frame("core_free", rows)


def compared(values: pd.DataFrame) -> dict:
    """The columns of values. values: columns role, set and value, a row for each sound run."""
    own, others = (values[values["role"] == role] for role in (CORE_FREE, CONTROL))
    sets = others.groupby("set")["value"].mean().to_numpy()
    row = {"n": len(own), "n_control": len(sets)}
    if own.empty or not len(sets):
        which = "with the core closed" if own.empty else "of a random set"
        return row | {"reason": f"no run {which} went well"}
    mean, control = own["value"].mean(), sets.mean()
    higher, lower = tails(sets, mean)
    row |= {"core_free": mean, "control": control, "difference": mean - control}
    row |= {"p_lower": lower, "p_higher": higher}
    if min(len(own), len(sets)) < 2:
        return row | {"reason": "one run alone has no interval"}
    if max(own["value"].std(), sets.std()) < TIE:
        return row | {"reason": "runs do not differ, so that there is no interval"}
    with warnings.catch_warnings():  # one side may be at a floor, where it does not vary
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        found = stats.ttest_ind(own["value"], sets, equal_var=False).confidence_interval(0.95)
    return row | {"low": found.low, "high": found.high}


def levels_of(
    accuracy: pd.DataFrame, groups: pd.DataFrame, families: pd.DataFrame, design: pd.DataFrame, subsets=None
) -> pd.DataFrame:
    """Values of every run: of subsets, groups and families, J and AUC, and KL from the full model.

    accuracy, groups, families: tables "accuracy", "group_accuracy" and "family_scores", whose pruning seed is the
    number of a run in `design`. subsets: those that enter means; None for all.
    """
    entering = chosen(accuracy, subsets)
    of_families = condensed(entering[entering["family"].notna()], ["seed", "group", "family"], [*MEASURES.values()])
    parts = [accuracy, groups, of_families, families[families["family"].notna()]]
    wide = pd.concat([part.reindex(columns=["seed", *SUBSET, *MEASURES.values()]) for part in parts])
    long = wide.melt(["seed", *SUBSET], list(MEASURES.values()), "measure", "value")
    long = long[(long["measure"] == "accuracy") | ~long["group"].isin(["j", "auc"])]
    long = long.astype({"subset": object, "group": object, "family": object}).rename(columns={"seed": "number"})
    long["value"] = np.asarray(long["value"], dtype=float)
    return long.merge(design, on="number").drop(columns="number")
