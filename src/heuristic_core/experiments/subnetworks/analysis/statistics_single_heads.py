"""Statistics for claims about single heads: the cost of ablating each head, and its attention."""

import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.experiments.subnetworks.analysis.joint_ablation import limit_cost
from heuristic_core.stats.bootstrap import bonferroni_interval
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, statistic
from heuristic_core.stats.randomisation import layer_randomisation_test


@statistic
def single_core_cost(evidence: Evidence, group: str) -> Estimate:
    """Test whether ablating core heads one by one costs more than ablating random heads of the same layers.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets or measure.

    Returns:
        p-value; the opposite p-value is for a smaller cost.
    """
    evidence.require_sound("mid", "high")
    heads = _single_rows(evidence, group)
    heads = heads.assign(layer=heads["layers"], in_core=heads["role"] == "core", value=-heads["change"])
    core = require_rows(heads.loc[heads["in_core"], "value"], "core head")
    rng = numpy_generator("single heads", group, int(evidence.context.last))
    p, opposite, attainable = layer_randomisation_test(heads, rng)
    others = heads.loc[~heads["in_core"], "value"]
    detail = f"core heads cost {core.mean():.1f} points on average, others {others.mean():.1f}"
    return Estimate.test(p, opposite, len(core), "core heads", detail, attainable)


@statistic
def largest_single_cost(evidence: Evidence, group: str) -> Estimate:
    """Estimate the largest cost of ablating a single head on a group, in points.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets or measure.

    Returns:
        Largest cost with an interval that holds for all heads simultaneously (Bonferroni, normal).
    """
    evidence.require_learned()
    heads = _single_rows(evidence, group)
    worst = heads.loc[heads["change"].idxmin()]
    detail = f"head {worst['ablation']}, of {len(heads)}"
    if heads[["change_low", "change_high"]].isna().any(axis=None):
        return Estimate(-worst["change"], detail=detail)
    low, high = bonferroni_interval(-heads["change"], -heads["change_high"], -heads["change_low"])
    ends = low.max(), high.max()
    return Estimate.over_pairs(-worst["change"], *ends, len(heads), "heads", detail, **limit_cost(group))


@statistic
def repeated_word_attention(evidence: Evidence) -> Estimate:
    """Test whether core heads attend more to the repeated word than random heads of the same layers.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        p-value; the opposite p-value is for less attention.

    Raises:
        DoesNotApply: If no word is repeated, as in a task of single sentences.
    """
    rows = evidence.table("attention")
    shares = rows[rows["category"] == "repeated"].set_index("component")["share"]
    if not shares.any():
        raise DoesNotApply("no word is in two sentences, as in a task of single sentences")
    evidence.require_sound("mid", "high")
    heads = evidence.table("core")
    heads = heads[heads["kind"] == "head"]
    heads = heads.assign(in_core=heads["in_core"].astype(bool), value=shares[heads["component"]].to_numpy())
    core = require_rows(heads.loc[heads["in_core"], "value"], "core head")
    rng = numpy_generator("repeated word attention", int(evidence.context.last))
    p, opposite, attainable = layer_randomisation_test(heads, rng)
    others = heads.loc[~heads["in_core"], "value"]
    detail = f"core {100 * core.mean():.1f} %, others {100 * others.mean():.1f} %"
    return Estimate.test(p, opposite, len(core), "core heads", detail, attainable)


def _single_rows(evidence: Evidence, group: str) -> pd.DataFrame:
    """Return one row per head on a group, for the first kind of ablation."""
    rows = evidence.table("ablations")
    rows = rows[(rows["kind"] == rows["kind"].iloc[0]) & rows["role"].isin(("core", "non-core"))]
    if "non-core" not in set(rows["role"]):
        raise NotComputable("not every head was ablated by itself")
    selected = rows["subset"].isna() & (rows["group"] == group)
    return require_rows(rows[selected].dropna(subset="change"), f"{group} accuracy without single heads")
