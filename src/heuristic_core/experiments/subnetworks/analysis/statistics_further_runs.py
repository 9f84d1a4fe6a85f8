"""Statistics for claims from further pruning runs: pruning without the core, and the steps at which heads enter."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.accuracy import LABELS
from heuristic_core.experiments.subnetworks.analysis.core_free import CONTROL, NO_MID
from heuristic_core.experiments.subnetworks.analysis.entry import CORE
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.stats.estimates import DoesNotApply, Estimate, FailedRuns, NotComputable, statistic
from heuristic_core.stats.randomisation import layer_randomisation_test

MIN_VALUES = 6  # smallest sample whose median has a 95 % interval from order statistics


@statistic
def core_size(evidence: Evidence) -> Estimate:
    """Return the number of heads in the core.

    Args:
        evidence: Tables of one fine-tuning run.
    """
    evidence.require_sound("mid", "high")
    core = evidence.table("core")
    names = [f"{head.layer}.{head.head}" for head in core[core["in_core"]].itertuples()]
    return Estimate(len(names), detail=f"the core is {', '.join(names) or 'empty'}", exact=True)


@statistic
def controls_faithful(evidence: Evidence) -> Estimate:
    """Estimate median ID accuracy of runs with a random set closed, minus the faithful accuracy, in points.

    The faithful accuracy is the mean ID accuracy of mid-sparsity subnetworks minus the margin. This statistic checks
    the controls: if pruning failed whichever heads are closed, a cost of closing the core would not be evidence about
    the core.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        Median difference over random sets; the interval is from order statistics, and absent with fewer than
        `MIN_VALUES` sets.

    Raises:
        NotComputable: If the study has no margin, no sound mid-sparsity subnetwork, or no sound run of a random set.
    """
    rows = evidence.table("core_free_runs")
    if evidence.context.margin is None:
        raise NotComputable("the study has no margin")
    if rows["mid_id_accuracy"].isna().all():
        raise NotComputable(NO_MID)
    controls = require_rows(rows[(rows["role"] == CONTROL) & rows["sound"]], "random set with a sound run")
    faithful = controls["mid_id_accuracy"].iloc[0] - evidence.context.margin
    values = controls["id_accuracy"].to_numpy(dtype=float) - faithful
    low = high = None
    if len(values) >= MIN_VALUES:
        low, high = stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    detail = (
        f"median ID accuracy of {len(values)} random sets {np.median(values) + faithful:.1f} %, "
        f"faithful {faithful:.1f} %"
    )
    return Estimate(float(np.median(values)), low, high, len(values), "random sets", detail, exact=low is None)


@statistic
def without_core(evidence: Evidence, group: str) -> Estimate:
    """Test whether closing the core costs more accuracy (or J) on a group than closing a random set.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.

    Returns:
        p-value; the opposite p-value is for a smaller cost.

    Raises:
        NotComputable: If there is no p-value.
        FailedRuns: If at least half of the runs were left out, with the core closed or with random sets closed.
    """
    evidence.require_sound("mid")
    rows = evidence.table("core_free")
    selected = (
        rows["subset"].isna() & rows["family"].isna() & (rows["measure"] == "accuracy") & (rows["group"] == group)
    )
    row = require_rows(rows[selected], f"{LABELS[group]} of subnetworks without the core").iloc[0]
    if pd.isna(row["p_lower"]):
        raise NotComputable(row["reason"])
    for excluded, included, closed in (
        ("left_out", "n", "the core"),
        ("left_out_control", "n_control", "a random set"),
    ):
        if row[excluded] >= row[included]:
            raise FailedRuns(
                f"of {row[excluded] + row[included]} pruning runs with {closed} closed, "
                f"{row[excluded]} failed, collapsed or missed their target"
            )
    interval = "" if pd.isna(row["low"]) else f" [{row['low']:z.1f}, {row['high']:z.1f}]"
    detail = (
        f"{LABELS[group]} {row['core_free']:z.1f} in {row['n']} runs without the core, {row['control']:z.1f} without "
        f"one of {row['n_control']} random sets: {row['difference']:+z.1f}{interval} points; "
        f"left out {row['left_out']} and {row['left_out_control']}"
    )
    attainable = 1 / (1 + row["n_control"])
    return Estimate.test(row["p_lower"], row["p_higher"], int(row["n_control"]), "random sets", detail, attainable)


@statistic
def early_core_heads(evidence: Evidence) -> Estimate:
    """Test whether core heads enter before J reaches half of its last value.

    The test permutes heads within layers, together with whether each enters before that step. The core holds the heads
    that all subnetworks of other seeds keep at the last checkpoint. Heads that are kept often may be kept often at any
    step. The test therefore shows that core heads enter early compared with other heads, not that entering early puts a
    head into the core.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        p-value; the opposite p-value is for entering after that step.

    Raises:
        NotComputable: If J reaches half outside of the steps with subnetworks, or if it is undecided for a
            head whether it enters before that step.
    """
    rows = _entry_rows(evidence)
    core, steps = require_rows(rows[rows["group"] == CORE], "core head"), evidence.context.entry
    half = rows["half_step"].iloc[0]
    if not steps[0] < half <= steps[-1]:  # entries outside of these steps are not observed
        evaluated = f"steps {steps[0]} to {steps[-1]} of mechanism.entry.checkpoints"
        raise NotComputable(f"J reaches half at step {half:.0f}, outside of {evaluated}")
    if (undecided := rows["before_half"].isna()).any():
        raise NotComputable(
            f"of {len(rows)} heads, {undecided.sum()} may enter before half or not: {rows[undecided].iloc[0].reason}"
        )
    heads = rows.assign(in_core=rows["group"] == CORE, value=rows["before_half"].astype(float))
    early = heads["value"].astype(bool)
    p, opposite, attainable = layer_randomisation_test(heads, numpy_generator("early core heads"))
    others = early[~heads["in_core"] & heads["layer"].isin(core["layer"])]
    detail = f"J reaches half at step {half:.0f}; {', '.join(_describe(head) for head in core.itertuples())}; "
    detail += f"of {len(others)} other heads of these layers {others.sum()} enter before"
    return Estimate.test(p, opposite, len(heads), "heads", detail, attainable)


def _entry_rows(evidence: Evidence) -> pd.DataFrame:
    """Return table "entry" of sound runs; raise DoesNotApply if OOD accuracy has no half step."""
    evidence.require_sound("entry")
    rows = evidence.table("entry")
    if rows["half_step"].isna().all():
        raise DoesNotApply(rows["reason"].iloc[0])
    return rows


def _describe(head) -> str:
    """Return a phrase saying when a head enters."""
    if pd.isna(head.entry_step):
        return f"{head.name} never enters"
    return f"{head.name} enters at {head.entry_step}" + (" or before" if head.censored else "")
