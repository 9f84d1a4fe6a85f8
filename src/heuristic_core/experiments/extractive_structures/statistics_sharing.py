"""Statistics of claims about shared components and about scores across relations, over the study's seeds."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.extractive_structures.evidence import HOPS, Evidence, by_hop
from heuristic_core.stats.estimates import Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.randomisation import stratified_permutation_test
from heuristic_core.stats.training_seeds import LOWEST, TRAINING_SEEDS, extreme_mean, mean_over_seeds

Strata = dict[tuple, tuple[np.ndarray, np.ndarray]]  # paired ranks by seed, kind and layer


@statistic
def shared_heads_beyond_chance(evidence: Evidence, part: str) -> Estimate:
    """Estimate how many heads all learned subnetworks share beyond chance, for the hop with fewer.

    Args:
        evidence: Tables of the study.
        part: Questions that subnetworks were found on: facts or implications.
    """
    rows = evidence.table("extractive_sharing")
    rows = rows[rows["part"] == part].dropna(subset="observed")
    excess = by_hop(rows.assign(value=rows["observed"] - rows["expected"]), "value")
    means = ", ".join(f"{hop} {values.mean():.3g}" for hop, values in excess.items())
    return extreme_mean(excess, LOWEST, f"shared beyond chance: {means}")


@statistic
def kept_by_score(evidence: Evidence, part: str, score: str) -> Estimate:
    """Test whether more subnetworks keep components with a higher score, for the hop where they do so less.

    Components are ranked within kind and layer, and permuted there: subnetworks keep early layers, and scores of early
    layers are high.

    Args:
        evidence: Tables of the study.
        part: Questions that subnetworks were found on.
        score: Kind of the score.

    Returns:
        p-value over both hops; the opposite p-value is for subnetworks that keep components with a lower score.

    Raises:
        TooFewUnits: If a hop has fewer than two seeds with a kind and layer whose components differ in both.
    """
    core = evidence.table("extractive_core")
    core = core[core["part"] == part].dropna(subset=["kept_by", score])
    tests, details, seeds = [], [], []
    for hop in HOPS:
        strata = _rank_within_layers(core[core["hop"] == hop], score)
        seeds.append(len({seed for seed, *_ in strata}))
        if seeds[-1] < 2:
            raise TooFewUnits(
                f"{hop} hop: in {seeds[-1]} seeds, components of one kind and layer differ in their {score} scores and "
                "in how many subnetworks keep them; two are needed"
            )
        tests.append(stratified_permutation_test([*strata.values()], numpy_generator("kept by score", score, hop)))
        details.append(f"{hop} hop {_correlate_strata(strata):.2g} (p = {tests[-1][0]:.2g})")
    more, fewer, attainable = zip(*tests, strict=True)
    detail = f"rank correlation within kind and layer with {score} scores: {', '.join(details)}"
    opposite = min(1.0, len(HOPS) * min(fewer))  # Bonferroni
    return Estimate.test(max(more), opposite, min(seeds), TRAINING_SEEDS, detail, max(attainable))


def _rank_within_layers(core: pd.DataFrame, score: str) -> Strata:
    """Return the ranks of `kept_by` and of a score by seed, kind and layer, where both differ between components."""
    groups = core.groupby(["seed", "kind", "layer"])
    ranks = {key: tuple(stats.rankdata(rows[name]) for name in ("kept_by", score)) for key, rows in groups}
    return {key: pair for key, pair in ranks.items() if all(np.ptp(values) > 0 for values in pair)}


def _correlate_strata(strata: Strata) -> float:
    """Return r of paired ranks less their means of strata."""
    a, b = (np.concatenate([pair[k] - pair[k].mean() for pair in strata.values()]) for k in (0, 1))
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@statistic
def rho_between_relations(evidence: Evidence, score: str) -> Estimate:
    """Estimate Spearman's rho of heads' scores between relations that the first hop implies, mean over pairs.

    Args:
        evidence: Tables of the study.
        score: Kind of score.

    Raises:
        NotComputable: If no rho is defined.
    """
    rows = evidence.table("extractive_transfer")
    rows = rows[(rows["score"] == score) & (rows["kind"] == "head") & (rows["b"] != "second hop")]
    values = rows.groupby("seed")["rho"].mean().dropna()
    if values.empty:
        raise NotComputable(f"no rho of {score} scores between relations")
    # not of Fisher's z: few ranks often agree exactly
    return mean_over_seeds(values, f"rho of {score} scores of heads, mean over pairs of relations", (-1, 1))
