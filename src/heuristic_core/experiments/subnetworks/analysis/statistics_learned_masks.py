"""Statistics for claims about learned masks: whether seeds, sparsities and checkpoints keep the same heads."""

import math

import numpy as np
import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.errors import InputError, format_count
from heuristic_core.experiments.subnetworks.analysis.core import Masks, collect_run_masks, stack_masks
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.randomisation import PERMUTATIONS, layer_randomisation_test, tail_p_values
from heuristic_core.stats.seeds import PRUNING_SEEDS

LATE_CELLS = ("mid", "high")


@statistic
def shared_heads(evidence: Evidence, set: str) -> Estimate:
    """Test whether all subnetworks of a set share more heads than under permutation of heads within layers.

    Args:
        evidence: Tables of one fine-tuning run.
        set: Name of a set of cells in :data:`.core.SETS`, for instance "mid+high".

    Returns:
        p-value. The opposite p-value is for fewer heads shared by two pruning seeds: the number shared by many
        subnetworks is near 0 by chance, so it cannot be shown to be smaller.
    """
    evidence.require_sound(*set.split("+"))
    rows = evidence.table("core_null")
    row = require_rows(rows[rows["set"] == set], f"comparison of {set} subnetworks with chance").iloc[0]
    detail = f"{format_count(int(row['observed']), 'head')} in all {row['n']}, {row['expected']:.2g} expected"
    if not pd.isna(row.get("overlap")):  # null in archives of older versions
        detail += f"; {row['overlap']:.1f} heads in two seeds, {row['expected_overlap']:.1f} expected"
    return Estimate.test(row["p"], row.get("p_fewer"), int(row["n"]), "subnetworks", detail)


@statistic
def early_core(evidence: Evidence) -> Estimate:
    """Test whether early subnetworks keep core heads more often than other heads of the same layers.

    The core is defined here as the heads kept by all late subnetworks of seeds without an early subnetwork. Runs of the
    same seed share batches and noise, so a head kept both early and late by the same seed is not evidence.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        p-value; the opposite p-value is for keeping core heads less often.

    Raises:
        NotComputable: If there are no early subnetworks, or no seeds with only late subnetworks.
        DoesNotApply: If the late subnetworks share no head.
    """
    evidence.require_sound("early")
    masks = _masks(evidence)
    if "early" not in masks:
        raise NotComputable("the study has no early subnetworks; set grid.early")
    early = masks["early"]
    late_only = {seed for cell in LATE_CELLS for seed in masks[cell]} - early.keys()
    if not late_only:
        raise NotComputable("early and late subnetworks have the same pruning seeds; set other seeds in grid.early")
    in_core = np.all([mask for cell in LATE_CELLS for seed, mask in masks[cell].items() if seed in late_only], axis=0)
    if not in_core.any():
        raise DoesNotApply(f"the late subnetworks of {len(late_only)} pruning seeds share no head")
    share = np.mean([*early.values()], axis=0)
    columns = {"layer": np.indices(in_core.shape)[0], "in_core": in_core, "value": share}
    heads = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    p, opposite, attainable = layer_randomisation_test(heads, numpy_generator("early core", int(evidence.context.last)))
    others = ~heads["in_core"] & heads["layer"].isin(heads.loc[heads["in_core"], "layer"])
    detail = (
        f"heads that late subnetworks of {len(late_only)} other seeds share ({in_core.sum()}) are in "
        f"{100 * share[in_core].mean():.0f} % of {len(early)} early subnetworks, other heads of their layers in "
        f"{100 * heads.loc[others, 'value'].mean():.0f} %"
    )
    return Estimate.test(p, opposite, int(in_core.sum()), "core heads", detail, attainable)


@statistic
def nested(evidence: Evidence) -> Estimate:
    """Test whether high-sparsity masks lie within the mid-sparsity mask of the same seed more than of another seed.

    If all seeds followed one ranking of heads, every high-sparsity mask would lie within every mid-sparsity mask.
    The null distribution therefore pairs the masks of different seeds at random.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        p-value; the opposite p-value is for less overlap within seeds.

    Raises:
        TooFewUnits: If fewer than two pruning seeds have subnetworks at both sparsities.
    """
    mid, high = (masks.reshape(len(masks), -1).astype(int) for masks in stack_masks(_masks(evidence)))
    if (seeds := len(mid)) < 2:
        raise TooFewUnits(f"{seeds} pruning seeds have subnetworks at both sparsities")
    overlap, order = high @ mid.T, np.arange(seeds)  # [high, mid]: number of heads in both masks
    paired = numpy_generator("nested", seeds).permuted(np.tile(order, (PERMUTATIONS, 1)), axis=1)
    observed = int(np.trace(overlap))
    p, opposite = tail_p_values(overlap[order, paired].sum(axis=1), observed)
    others = (overlap.sum() - observed) / (seeds - 1)
    same_seed, other_seed = (100 * value / high.sum() for value in (observed, others))
    detail = (
        f"{same_seed:.1f} % of high's heads are in the mid mask of the same seed, {other_seed:.1f} % in that of another"
    )
    return Estimate.test(p, opposite, seeds, PRUNING_SEEDS, detail, 1 / math.factorial(seeds))


@statistic
def frequency_within_layers(evidence: Evidence) -> Estimate:
    """Test whether head frequencies at mid and high sparsity are positively correlated within layers.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        p-value; the opposite p-value is for a negative correlation.

    Raises:
        TooFewUnits: If no two halves of the pruning seeds give a correlation.
    """
    evidence.require_sound(*LATE_CELLS)
    row = evidence.table("frequency_agreement").iloc[0]
    if pd.isna(row["rho"]):
        raise TooFewUnits("there are no two halves of the pruning seeds that prefer heads of any layer")
    corrected = "undefined" if pd.isna(row["corrected"]) else f"{row['corrected']:z.2f}"
    detail = (
        f"rho within layers {row['rho']:z.2f} between halves of {row['seeds']} seeds, corrected for their reliability "
        f"({row['reliability_mid']:.2f} and {row['reliability_high']:.2f}) {corrected}"
    )
    return Estimate.test(row["p"], row["p_below"], int(row["n"]), "heads", detail)


def _masks(evidence: Evidence) -> Masks:
    """Return the masks of a run by cell and pruning seed; raise NotComputable if a cell has none."""
    evidence.require_sound(*LATE_CELLS)
    try:
        return collect_run_masks(evidence.table("components"), evidence.context)
    except InputError as error:
        raise NotComputable(str(error)) from None
