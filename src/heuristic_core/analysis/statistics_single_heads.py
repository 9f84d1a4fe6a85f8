"""Statistics of claims about heads one by one: what the full model loses without each."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.accuracy import OOD
from heuristic_core.analysis.estimates import CannotSay, Estimate, Evidence, some
from heuristic_core.analysis.frames import numpy_generator

DRAWS = 10_000


def single_core_cost(evidence: Evidence, group: str) -> Estimate:
    """p that as many random heads of the same layers cost as much on a group, one by one; opposite: as little.

    The random heads are drawn from all of a layer, the core's among them.
    """
    evidence.sound("mid", "high")
    heads = _singles(evidence, group)
    in_core = (heads["role"] == "core").to_numpy()
    some(heads[in_core], "core head")
    cost, drawn = -heads["change"].to_numpy(), np.zeros(DRAWS)
    # A model that comes to reject pairs gains OOD accuracy, whatever it loses.
    if group == OOD and cost[in_core].sum() < 0:
        raise CannotSay(f"without a core head OOD accuracy gains {-cost[in_core].mean():.1f} points on average")
    draw = numpy_generator("single heads", group, int(evidence.context.last))
    for _, rows in heads.reset_index(drop=True).groupby("layers"):
        values = np.broadcast_to(cost[rows.index], (DRAWS, len(rows)))
        drawn += draw.permuted(values, axis=1)[:, : in_core[rows.index].sum()].sum(axis=1)
    p, opposite = ((1 + int((sign * (drawn - cost[in_core].sum()) > -1e-9).sum())) / (1 + DRAWS) for sign in (1, -1))
    detail = f"core heads cost {cost[in_core].mean():.1f} points on average, others {cost[~in_core].mean():.1f}"
    n = int(in_core.sum())
    return Estimate(p, None, None, n, "core heads", f"{detail}, p = {p:.2g}", exact=True, opposite=opposite)


def largest_single_cost(evidence: Evidence, group: str) -> Estimate:
    """The most that any single head costs on a group, points; its interval is for all heads (Bonferroni, normal)."""
    evidence.learned()
    heads = _singles(evidence, group)
    worst = heads.loc[heads["change"].idxmin()]
    detail = f"head {worst['ablation']}, of {len(heads)}"
    if heads[["change_low", "change_high"]].isna().any(axis=None):
        return Estimate(-worst["change"], detail=detail)
    wider = stats.norm.ppf(1 - 0.025 / len(heads)) / stats.norm.ppf(0.975)
    low = -heads["change"] - wider * (heads["change_high"] - heads["change"])
    high = -heads["change"] + wider * (heads["change"] - heads["change_low"])
    return Estimate(-worst["change"], low.max(), high.max(), len(heads), "heads", detail)


def _singles(evidence: Evidence, group: str) -> pd.DataFrame:
    """One row for every head, of the first kind of ablation, on a group."""
    rows = evidence.table("ablations")
    rows = rows[(rows["kind"] == rows["kind"].iloc[0]) & rows["role"].isin(("core", "non-core"))]
    if "non-core" not in set(rows["role"]):
        raise CannotSay("not every head was ablated by itself")
    here = rows["subset"].isna() & (rows["group"] == group)
    return some(rows[here].dropna(subset="change"), f"{group} accuracy without single heads")


STATISTICS = {f.__name__: f for f in (single_core_cost, largest_single_cost)}
