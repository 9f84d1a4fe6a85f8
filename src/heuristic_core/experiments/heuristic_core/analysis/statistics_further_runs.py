"""Statistics of claims about further pruning runs: subnetworks without the core, and when heads enter."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.randomisation import of_random_heads, tails
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.accuracy import LABELS
from heuristic_core.experiments.heuristic_core.analysis.core_free import CONTROL, NO_MID
from heuristic_core.experiments.heuristic_core.analysis.entry import CORE, COUNTER
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some

FEWEST = 6  # values whose median has a 95 % interval


@statistic
def core_size(evidence: Evidence) -> Estimate:
    """How many heads the core has."""
    evidence.sound("mid", "high")
    core = evidence.table("core")
    names = [f"{head.layer}.{head.head}" for head in core[core["in_core"]].itertuples()]
    return Estimate(len(names), detail=f"the core is {', '.join(names) or 'empty'}", exact=True)


@statistic
def controls_faithful(evidence: Evidence) -> Estimate:
    """Median ID accuracy with a random set closed, minus what is faithful to mid-sparsity subnetworks, points.

    Faithful is their mean ID accuracy less the margin. If pruning around any closed heads failed, a cost without the
    core would be no evidence. The interval is of the median, by order statistics.
    """
    rows = evidence.table("core_free_runs")
    if evidence.context.margin is None:
        raise CannotSay("the study has no margin")
    if rows["mid_id_accuracy"].isna().all():
        raise CannotSay(NO_MID)
    controls = some(rows[(rows["role"] == CONTROL) & rows["sound"]], "random set whose run went well")
    least = controls["mid_id_accuracy"].iloc[0] - evidence.context.margin
    values = controls["id_accuracy"].to_numpy(dtype=float) - least
    low = high = None
    if len(values) >= FEWEST:
        low, high = stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    detail = (
        f"median ID accuracy of {len(values)} random sets {np.median(values) + least:.1f} %, faithful {least:.1f} %"
    )
    return Estimate(float(np.median(values)), low, high, len(values), "random sets", detail, exact=low is None)


@statistic
def without_core(evidence: Evidence, group: str) -> Estimate:
    """p that a random set costs subnetworks at least as much on a group (or of J) as the core; opposite: at most."""
    evidence.sound("mid")
    rows = evidence.table("core_free")
    whole = rows["subset"].isna() & rows["family"].isna() & (rows["measure"] == "accuracy") & (rows["group"] == group)
    row = some(rows[whole], f"{LABELS[group]} of subnetworks without the core").iloc[0]
    if pd.isna(row["p_lower"]):
        raise CannotSay(row["reason"])
    for left, kept, what in (("left_out", "n", "the core"), ("left_out_control", "n_control", "a random set")):
        if row[left] > row[kept]:
            raise CannotSay(f"of {row[left] + row[kept]} pruning runs with {what} closed, {row[left]} did not go well")
    ends = "" if pd.isna(row["low"]) else f" [{row['low']:.1f}, {row['high']:.1f}]"
    detail = (
        f"{LABELS[group]} {row['core_free']:.1f} in {row['n']} runs without the core, {row['control']:.1f} without one "
        f"of {row['n_control']} random sets: {row['difference']:+.1f}{ends} points, p = {row['p_lower']:.2g}; left out "
        f"{row['left_out']} and {row['left_out_control']}"
    )
    return Estimate.test(row["p_lower"], row["p_higher"], int(row["n_control"]), "random sets", detail)


@statistic
def side_by_side(evidence: Evidence) -> Estimate:
    """How many faithful subnetworks with different heads pruning finds one after another.

    That there is one alone says something about its heads only where pruning succeeds with random heads closed in their
    place: at least half of these runs must be faithful, of those that went well.
    """
    evidence.sound("high")
    rows = evidence.table("packing")
    faithful = rows["faithful"].eq(True).fillna(False).astype(bool)
    own, second = rows["control"] == 0, rows[(rows["round"] == 2) & (rows["control"] > 0)]
    if not (own & faithful).any():
        raise CannotSay("the first subnetwork is not faithful")
    last, count = rows[own].iloc[-1], int((own & faithful).sum())
    if last["round"] == 1:
        what = "keeps no head to close" if not last["heads"] else "leaves no room for a second one"
        raise CannotSay(f"no second subnetwork was searched: the first one {what}")
    if not pd.isna(last["reason"]):  # no evidence that there is no further subnetwork
        raise CannotSay(f"the pruning run of round {last['round']} did not go well: {last['reason']}")
    well = second[second["reason"].isna()]
    if count == 1 and not (len(well) and 2 * faithful[well.index].sum() >= len(well)):
        raise CannotSay(
            f"with random heads closed, {faithful[well.index].sum()} of {len(well)} pruning runs that went well are "
            "faithful: that the second one is not may be due to any closed heads"
        )
    shares = ", ".join(f"{share:.0f} %" for share in rows.loc[own, "share"].dropna())
    detail = f"{shares} of the full model's ID accuracy, one after another; there is room for {rows['room'].iloc[0]}; "
    detail += f"with random heads closed instead {faithful[well.index].sum()} of {len(well)} are faithful"
    return Estimate(count, detail=detail, exact=True)


@statistic
def early_core_heads(evidence: Evidence) -> Estimate:
    """p that as many random heads of the same layers enter before OOD accuracy reaches half of its last value.

    Heads are permuted within layers, each by whether it enters before. The core is what all subnetworks of other seeds
    keep at the last checkpoint, and often kept heads may be so at any step: the test says that core heads are early
    beside other heads, not that being early makes a core head.
    """
    rows = _entry(evidence)
    core, steps = some(rows[rows["group"] == CORE], "core head"), evidence.context.entry
    half = rows["half_step"].iloc[0]
    if not steps[0] < half <= steps[-1]:  # nothing is seen to enter before the first one, or after the last one
        ends = f"steps {steps[0]} to {steps[-1]} of mechanism.entry.checkpoints"
        raise CannotSay(f"OOD accuracy reaches half at step {half:.0f}, outside of {ends}")
    if (open_ := rows["before_half"].isna()).any():
        raise CannotSay(
            f"of {len(rows)} heads, {open_.sum()} may enter before half or not: {rows[open_].iloc[0].reason}"
        )
    heads = rows.assign(in_core=rows["group"] == CORE, value=rows["before_half"].astype(float))
    early = heads["value"].astype(bool)
    p, opposite = tails(of_random_heads(heads, numpy_generator("early core heads")), core["before_half"].sum())
    others = early[~heads["in_core"] & heads["layer"].isin(core["layer"])]
    detail = f"OOD accuracy reaches half at step {half:.0f}; {', '.join(_named(head) for head in core.itertuples())}; "
    detail += f"of {len(others)} other heads of these layers {others.sum()} enter before, p = {p:.2g}"
    return Estimate.test(p, opposite, len(heads), "heads", detail)


@statistic
def counter_rise(evidence: Evidence) -> Estimate:
    """p that other heads rise as much in frequency as counter-heuristic ones when OOD accuracy passes half.

    The rise of a head is how often it is kept from that step on, minus before. Heads but for the core's are permuted
    within layers.
    """
    rows = _entry(evidence)
    heads = rows[rows["group"] != CORE].dropna(subset="rise")
    heads = heads.assign(in_core=heads["group"] == COUNTER, value=heads["rise"])
    counter = some(heads[heads["in_core"]], "counter-heuristic head")
    others = some(heads[~heads["in_core"]], "head beside core and counter-heuristic heads")
    p, opposite = tails(of_random_heads(heads, numpy_generator("counter rise")), counter["rise"].sum())
    detail = (
        f"{len(counter)} counter-heuristic heads {counter['rise'].mean():+.1f} points of subnetworks, {len(others)} "
        f"others {others['rise'].mean():+.1f}, p = {p:.2g}"
    )
    return Estimate.test(p, opposite, len(heads), "heads", detail)


def _entry(evidence: Evidence) -> pd.DataFrame:
    """Table "entry" of sound runs. Raises CannotSay where the full model does not generalise at any step."""
    evidence.sound("entry")
    rows = evidence.table("entry")
    if rows["half_step"].isna().all():
        raise CannotSay(rows["reason"].iloc[0])
    return rows


def _named(head) -> str:
    if pd.isna(head.entry_step):
        return f"{head.name} never enters"
    return f"{head.name} enters at {head.entry_step}" + (" or before" if head.censored else "")
