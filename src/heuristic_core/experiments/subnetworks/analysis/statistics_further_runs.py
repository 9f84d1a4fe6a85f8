"""Statistics for claims from further pruning runs: pruning without the core, and the steps at which heads enter."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.core_free import CONTROL, CORE_FREE, NO_MID
from heuristic_core.experiments.subnetworks.analysis.entry import CORE
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.experiments.subnetworks.analysis.shares import MIN_FOR_SHARE, estimate_share
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.randomisation import layer_randomisation_test
from heuristic_core.stats.seeds import PRUNING_SEEDS

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
def pruning_around_heads(evidence: Evidence) -> Estimate:
    """Estimate how accurate pruning with closed heads is: median ID accuracy minus the faithful accuracy, in points.

    The median is over runs with a random set closed or over runs with the core closed, whichever is higher. If neither
    kind of run reaches the faithful accuracy, pruning may fail whichever heads are closed, and says nothing about the
    core.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        Median difference over runs; the interval is from order statistics, and absent with fewer than `MIN_VALUES`.

    Raises:
        NotComputable: If the study has no margin, no sound mid-sparsity subnetwork, or no run that ended.
    """
    rows, faithful = _core_free_runs(evidence)
    by_role = [rows[rows["role"] == role]["id_accuracy"].to_numpy(dtype=float) for role in (CONTROL, CORE_FREE)]
    values = max((values for values in by_role if len(values)), key=np.median) - faithful
    low = high = None
    if len(values) >= MIN_VALUES:
        low, high = stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    detail = f"median ID accuracy of {len(values)} runs {np.median(values) + faithful:.1f} %, faithful {faithful:.1f} %"
    return Estimate(float(np.median(values)), low, high, len(values), PRUNING_SEEDS, detail, exact=low is None)


@statistic
def share_faithful_without_core(evidence: Evidence) -> Estimate:
    """Estimate the share of subnetworks without the core that are faithful in-domain, in percent.

    A faithful subnetwork counts even if its run missed its target: it exists, however it was found. An unfaithful
    subnetwork of such a run counts as unfaithful in the lower end of the interval and as faithful in the upper end.

    Args:
        evidence: Tables of one fine-tuning run.

    Raises:
        NotComputable: If the study has no margin or no sound mid-sparsity subnetwork.
        TooFewUnits: If fewer than `MIN_FOR_SHARE` runs with the core closed ended.
    """
    rows, faithful = _core_free_runs(evidence)
    rows = rows[rows["role"] == CORE_FREE]
    if len(rows) < MIN_FOR_SHARE:
        raise TooFewUnits(f"{len(rows)} runs with the core closed ended; an interval needs {MIN_FOR_SHARE}")
    accuracy, missed = rows["id_accuracy"].astype(float), rows["missed"].astype(bool)
    detail = f"ID accuracy {accuracy.min():.1f} to {accuracy.max():.1f} %, faithful {faithful:.1f} %"
    detail += f", {missed.sum()} missed their target" if missed.any() else ""
    is_faithful = accuracy > faithful
    return estimate_share(is_faithful, is_faithful, is_faithful | missed, detail)


def _core_free_runs(evidence: Evidence) -> tuple[pd.DataFrame, float]:
    """Return the rows of table "core_free_runs" whose run ended, and the faithful accuracy, percent.

    The faithful accuracy is the mean ID accuracy of sound mid-sparsity subnetworks minus the margin.

    Raises:
        NotComputable: If the study has no margin, no sound mid-sparsity subnetwork, or no run that ended.
    """
    evidence.require_sound("mid")
    rows = evidence.table("core_free_runs")
    if evidence.context.margin is None:
        raise NotComputable("the study has no margin")
    if rows["mid_id_accuracy"].isna().all():
        raise NotComputable(NO_MID)
    faithful = float(rows["mid_id_accuracy"].iloc[0] - evidence.context.margin)
    return require_rows(rows[rows["id_accuracy"].notna()], "run with closed heads that ended"), faithful


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
