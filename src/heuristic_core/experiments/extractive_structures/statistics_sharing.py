"""Statistics of claims about what subnetworks share, and about scores across relations. Over the study's seeds."""

import pandas as pd
from scipy import stats

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.training_seeds import LOWEST, extreme
from heuristic_core.experiments.extractive_structures.correlations import lowest_correlation
from heuristic_core.experiments.extractive_structures.evidence import Evidence, by_hop


@statistic
def shared_heads_beyond_chance(evidence: Evidence, part: str) -> Estimate:
    """Heads that all learned subnetworks of a model share, less what they would share by chance, of the hop with
    fewer."""
    rows = evidence.table("extractive_sharing")
    rows = rows[rows["part"] == part].dropna(subset="observed")
    found = by_hop(rows.assign(value=rows["observed"] - rows["expected"]), "value")
    said = ", ".join(f"{hop} {values.mean():.3g}" for hop, values in found.items())
    return extreme(found, LOWEST, f"shared beyond chance: {said}")


@statistic
def kept_by_score(evidence: Evidence, part: str, score: str) -> Estimate:
    """Spearman's rho, over the components of a model, of a score and of how many subnetworks keep the component; of the
    hop where it is lower."""
    rows = evidence.table("extractive_core")
    found = [
        {"hop": hop, "seed": seed, "value": float(stats.spearmanr(of_model["kept_by"], of_model[score]).statistic)}
        for (hop, seed), of_model in rows[rows["part"] == part].groupby(["hop", "seed"])
    ]
    rows = pd.DataFrame(found, columns=["hop", "seed", "value"])
    return lowest_correlation(by_hop(rows, "value"), f"rho of {score} scores")


@statistic
def rho_between_relations(evidence: Evidence, score: str) -> Estimate:
    """Spearman's rho of heads' scores between relations that facts of the first hop imply, mean over pairs."""
    rows = evidence.table("extractive_transfer")
    rows = rows[(rows["score"] == score) & (rows["kind"] == "head") & (rows["b"] != "second hop")]
    values = rows.groupby("seed")["rho"].mean().dropna()
    if values.empty:
        raise CannotSay(f"no rho of {score} scores between relations")
    return lowest_correlation({"": values}, f"rho of {score} scores of heads, mean over pairs of relations")
