"""Statistics of claims about extractive structures, over the study's seeds. Ranks are mean ranks; 0 is best."""

import pandas as pd

from heuristic_core.experiments.extractive_structures.correlations import lowest_correlation
from heuristic_core.experiments.extractive_structures.evidence import HOPS, IMPLICATIONS, Evidence, by_hop
from heuristic_core.stats.estimates import Estimate, NotComputable, statistic
from heuristic_core.stats.training_seeds import HIGHEST, extreme_model, mean_over_seeds

WHOLE = "whole"


@statistic
def rank_of_facts(evidence: Evidence, corpus: str = WHOLE) -> Estimate:
    """Return the mean rank of facts after they are taught, of the worst model and hop.

    Args:
        evidence: Tables of the study.
        corpus: Corpus of pre-training.
    """
    return _find_worst_model({f"{hop} hop": evidence.ranks_after_teaching(hop, corpus, "facts") for hop in HOPS})


@statistic
def rank_of_facts_by_layers(evidence: Evidence, hop: str, how: str) -> Estimate:
    """Return the mean rank of a hop's facts with early or late layers frozen or restored: the worst model's.

    Args:
        evidence: Tables of the study.
        hop: "first" or "second".
        how: "frozen" or "restored".
    """
    where = {"hop": hop, "how": how}
    ranks = {name: evidence.ranks("extractive_freezing", "facts", **where, layers=name) for name in ("early", "late")}
    return _find_worst_model(ranks)


@statistic
def rank_taught_by_order(evidence: Evidence, order: str, stage: int | None = None) -> Estimate:
    """Return the mean rank of what the stages of an order taught, each at the end of its stage, of the worst model.

    Args:
        evidence: Tables of the study.
        order: Order of teaching.
        stage: A stage, from 0; default: all.
    """
    return _find_worst_model(evidence.ranks_of_taught(order, stage), f"rank of what {order} taught")


@statistic
def rank_in_localisation(evidence: Evidence, part: str) -> Estimate:
    """Return the mean rank of test names' facts or of learned implications, of the worst model of localisation.

    Args:
        evidence: Tables of the study.
        part: facts or implications.
    """
    rows = evidence.table("extractive_localisation").drop_duplicates("seed")  # both kinds are of one model
    return _find_worst_model({part: rows.set_index("seed")[f"{part}_rank"].astype(float)}, "rank")


@statistic
def rank_of_facts_by_graft(evidence: Evidence, weights: str, less: str) -> Estimate:
    """Return the mean rank of facts with two kinds of grafted weights, of the worst model.

    Args:
        evidence: Tables of the study.
        weights: First kind: "none", "graft" or "control".
        less: Second kind.
    """
    return _find_worst_model(
        {name: evidence.ranks("extractive_grafting", "facts", weights=name) for name in (weights, less)}
    )


@statistic
def rank_drop_from_facts(evidence: Evidence, hop: str, corpus: str = WHOLE) -> Estimate:
    """Estimate the fall of the rank of implications while facts are taught, percent of the rank before.

    Args:
        evidence: Tables of the study.
        hop: "first" or "second".
        corpus: Corpus of pre-training.
    """
    before, after = (evidence.ranks_after_teaching(hop, corpus, IMPLICATIONS, epoch) for epoch in (0, None))
    detail = _describe_ranks("rank", {"before": before, "after": after})
    largest_rise = 100 * (_worst_rank(evidence) / before.min() - 1)
    return mean_over_seeds(100 * (before - after) / before, detail, (-largest_rise, 100))


@statistic
def rank_left_by_corpus(evidence: Evidence, hop: str, corpus: str) -> Estimate:
    """Estimate the rank of implications after teaching: pre-trained on `corpus` minus pre-trained on the whole one.

    Args:
        evidence: Tables of the study.
        hop: "first" or "second".
        corpus: Corpus of pre-training, such as "no-implications"; not the whole one.
    """
    ranks = {name: evidence.ranks_after_teaching(hop, name, IMPLICATIONS) for name in (corpus, WHOLE)}
    return _estimate_difference(evidence, ranks)


@statistic
def rank_by_layers(evidence: Evidence, hop: str, how: str, part: str = IMPLICATIONS) -> Estimate:
    """Estimate the rank with early layers frozen or restored minus the rank with late layers.

    Args:
        evidence: Tables of the study.
        hop: "first" or "second".
        how: "frozen" or "restored".
        part: Part of the questions.
    """
    ranks = {
        layers: evidence.ranks("extractive_freezing", part, hop=hop, how=how, layers=layers)
        for layers in ("early", "late")
    }
    return _estimate_difference(evidence, ranks)


@statistic
def rank_by_order(evidence: Evidence, order: str, less: str) -> Estimate:
    """Estimate the rank of test names' implications after one order of teaching minus the rank after another.

    Args:
        evidence: Tables of the study.
        order: First order: "joint", "facts first" or "implications first".
        less: The order whose rank is subtracted.
    """
    return _estimate_difference(evidence, {name: evidence.ranks_after_order(name) for name in (order, less)})


@statistic
def rank_after_order(evidence: Evidence, order: str) -> Estimate:
    """Estimate the rank of test names' implications after an order of teaching, percent of the rank by chance.

    Args:
        evidence: Tables of the study.
        order: Name of the order.
    """
    chance = _worst_rank(evidence) / 2
    ranks = evidence.ranks_after_order(order)
    return mean_over_seeds(100 / chance * ranks, _describe_ranks("rank", {order: ranks}), (0, 200))


@statistic
def rank_by_graft(evidence: Evidence, weights: str, less: str, part: str = IMPLICATIONS) -> Estimate:
    """Estimate the rank of a part's questions with one kind of grafted weights minus the rank with another.

    Args:
        evidence: Tables of the study.
        weights: First kind: "none", "graft" or "control".
        less: The kind whose rank is subtracted.
        part: Part of the questions.
    """
    return _estimate_difference(
        evidence, {name: evidence.ranks("extractive_grafting", part, weights=name) for name in (weights, less)}
    )


@statistic
def localisation_correlation(evidence: Evidence, kind: str) -> Estimate:
    """Estimate r, within tokens, between where implications are stored and which components process other facts.

    Args:
        evidence: Tables of the study.
        kind: Kind of component: head or mlp.
    """
    rows = evidence.table("extractive_localisation")
    rows = rows[rows["kind"] == kind]
    _require_r(rows, what := f"r within tokens of informative and downstream scores of {kind}s")
    return lowest_correlation({"": rows.set_index("seed")["r"].astype(float)}, what)


@statistic
def score_effect_correlation(evidence: Evidence, score: str, effect: str, kind: str) -> Estimate:
    """Estimate r of a score with the effect of removing components, for the hop where it is lower.

    Args:
        evidence: Tables of the study.
        score: "informative", "downstream", "upstream" or "upstream_path".
        effect: "restored" or "ablated".
        kind: "head" or "mlp".
    """
    rows = evidence.table("extractive_removal")
    rows = rows[(rows["score"] == score) & (rows["effect"] == effect) & (rows["kind"] == kind)]
    return _estimate_lower_hop(rows, f"r of {score} scores of {kind}s")


@statistic
def score_agrees(evidence: Evidence, score: str, kind: str) -> Estimate:
    """Estimate r of a score with full replacement, means over questions, for the hop where it is lower.

    Args:
        evidence: Tables of the study.
        score: "informative", "downstream", "upstream" or "upstream_path".
        kind: "head" or "mlp".
    """
    rows = evidence.table("extractive_agreement")
    rows = rows[(rows["score"] == score) & (rows["over"] == "means") & (rows["kind"] == kind)]
    return _estimate_lower_hop(rows, f"r of {score} scores of {kind}s with replacement")


def _estimate_lower_hop(rows: pd.DataFrame, what: str) -> Estimate:
    """Estimate the lower mean r of both hops."""
    _require_r(rows, what)
    return lowest_correlation(by_hop(rows, "r"), what)


def _require_r(rows: pd.DataFrame, what: str) -> None:
    """Raise NotComputable if r is null in all rows."""
    if rows.empty or rows["r"].isna().all():
        raise NotComputable("; ".join([f"no {what}", *sorted(set(rows["reason"].dropna()))]))


def _worst_rank(evidence: Evidence) -> int:
    """Return the worst rank of an answer. The options are as many as the questions of a part."""
    return int(evidence.table("extractive_curves")["questions"].min()) - 1


def _find_worst_model(ranks: dict[str, pd.Series], label: str = "rank of facts") -> Estimate:
    """Return the highest mean rank that any model gives to what it was taught. Exact, as every question is asked."""
    return extreme_model(ranks, HIGHEST, _describe_ranks(label, ranks))


def _estimate_difference(evidence: Evidence, ranks: dict[str, pd.Series]) -> Estimate:
    """Estimate the first name's rank minus the second's, seed by seed."""
    first, second = ranks.values()
    worst = _worst_rank(evidence)
    return mean_over_seeds(first - second, _describe_ranks("rank", ranks), (-worst, worst))


def _describe_ranks(what: str, ranks: dict[str, pd.Series]) -> str:
    """Return a text such as "rank: before 10.4, after 1.5"."""
    return f"{what}: {', '.join(f'{name} {values.mean():.3g}' for name, values in ranks.items())}"
