"""Statistics of claims about shared components and about scores across relations, over the study's seeds."""

import pandas as pd
from scipy import stats

from heuristic_core.experiments.extractive_structures.correlations import lowest_correlation
from heuristic_core.experiments.extractive_structures.evidence import Evidence, by_hop
from heuristic_core.stats.estimates import Estimate, NotComputable, statistic
from heuristic_core.stats.training_seeds import LOWEST, extreme_mean


@statistic
def shared_heads_beyond_chance(evidence: Evidence, part: str) -> Estimate:
    """Estimate how many heads all learned subnetworks share beyond chance, for the hop with fewer."""
    rows = evidence.table("extractive_sharing")
    rows = rows[rows["part"] == part].dropna(subset="observed")
    excess = by_hop(rows.assign(value=rows["observed"] - rows["expected"]), "value")
    means = ", ".join(f"{hop} {values.mean():.3g}" for hop, values in excess.items())
    return extreme_mean(excess, LOWEST, f"shared beyond chance: {means}")


@statistic
def kept_by_score(evidence: Evidence, part: str, score: str) -> Estimate:
    """Estimate rho of a score and of how many subnetworks keep a component, for the hop where it is lower."""
    rows = evidence.table("extractive_core")
    correlations = [
        {"hop": hop, "seed": seed, "value": float(stats.spearmanr(model_rows["kept_by"], model_rows[score]).statistic)}
        for (hop, seed), model_rows in rows[rows["part"] == part].groupby(["hop", "seed"])
    ]
    rows = pd.DataFrame(correlations, columns=["hop", "seed", "value"])
    return lowest_correlation(by_hop(rows, "value"), f"rho of {score} scores")


@statistic
def rho_between_relations(evidence: Evidence, score: str) -> Estimate:
    """Estimate Spearman's rho of heads' scores between relations that the first hop implies, mean over pairs."""
    rows = evidence.table("extractive_transfer")
    rows = rows[(rows["score"] == score) & (rows["kind"] == "head") & (rows["b"] != "second hop")]
    values = rows.groupby("seed")["rho"].mean().dropna()
    if values.empty:
        raise NotComputable(f"no rho of {score} scores between relations")
    return lowest_correlation({"": values}, f"rho of {score} scores of heads, mean over pairs of relations")
