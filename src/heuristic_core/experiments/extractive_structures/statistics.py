"""Statistics of claims about extractive structures, over the study's seeds. Ranks are mean ranks: 0 is right."""

from dataclasses import replace

import numpy as np
import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.training_seeds import HIGHEST, LOWEST, SEEDS, extreme, over_seeds
from heuristic_core.experiments.extractive_structures.evidence import IMPLICATIONS, Evidence

WHOLE = "whole"


@statistic
def models_of_corpus(evidence: Evidence, corpus: str) -> Estimate:
    """How many models were pre-trained on a corpus; models that others have pre-trained are of the whole one."""
    curves = evidence.table("extractive_curves")
    count = curves.loc[curves["corpus"] == corpus, "seed"].nunique()
    return Estimate(count, n=count, unit=SEEDS, detail=f"{count} models of the corpus {corpus}", exact=True)


@statistic
def rank_of_facts(evidence: Evidence, corpus: str = WHOLE) -> Estimate:
    """Mean rank of the facts of a hop after they are taught, percent of the worst rank, of the hop that is worse."""
    return _worst(evidence, {f"{hop} hop": evidence.taught(hop, corpus, "facts") for hop in ("first", "second")})


@statistic
def rank_of_facts_by_layers(evidence: Evidence, hop: str, how: str) -> Estimate:
    """The same of a hop's facts where early layers are frozen (or restored, as `how` says), and where late ones are."""
    where = {"hop": hop, "how": how}
    found = {name: evidence.ranks("extractive_freezing", "facts", **where, layers=name) for name in ("early", "late")}
    return _worst(evidence, found)


@statistic
def rank_of_facts_by_order(evidence: Evidence, order: str, less: str) -> Estimate:
    """The same of facts of made-up words, at the end of two orders of teaching."""
    return _worst(evidence, {name: evidence.ordered(name, "facts") for name in (order, less)})


@statistic
def rank_of_facts_by_graft(evidence: Evidence, weights: str, less: str) -> Estimate:
    """The same of the facts of a model with one sort of weights added, and with another one."""
    return _worst(
        evidence, {name: evidence.ranks("extractive_grafting", "facts", weights=name) for name in (weights, less)}
    )


@statistic
def fall_by_facts(evidence: Evidence, hop: str, corpus: str = WHOLE) -> Estimate:
    """How far the rank of implications falls while facts are taught, seed by seed, percent of the rank before."""
    before, after = (evidence.taught(hop, corpus, IMPLICATIONS, epoch) for epoch in (0, None))
    said = _said("rank", {"before": before, "after": after})
    return replace(found := over_seeds(100 * (before - after) / before, said), high=_at_most(found.high, 100))


@statistic
def rank_left_by_corpus(evidence: Evidence, hop: str, corpus: str) -> Estimate:
    """Rank of implications after teaching facts: pre-trained on `corpus` less pre-trained on the whole corpus."""
    ranks = {name: evidence.taught(hop, name, IMPLICATIONS) for name in (corpus, WHOLE)}
    return _difference(ranks)


@statistic
def rank_by_layers(evidence: Evidence, hop: str, how: str, part: str = IMPLICATIONS) -> Estimate:
    """Rank where early layers are frozen (or restored, as `how` says) less the rank where late layers are."""
    ranks = {
        layers: evidence.ranks("extractive_freezing", part, hop=hop, how=how, layers=layers)
        for layers in ("early", "late")
    }
    return _difference(ranks)


@statistic
def rank_by_order(evidence: Evidence, order: str, less: str) -> Estimate:
    """Rank of test names' implications after one order of teaching, less the rank after another order."""
    return _difference({name: evidence.ordered(name) for name in (order, less)})


@statistic
def rank_after_order(evidence: Evidence, order: str) -> Estimate:
    """Rank of test names' implications after an order of teaching, percent of the rank by chance."""
    chance = (_questions(evidence) - 1) / 2
    return over_seeds(100 / chance * (ranks := evidence.ordered(order)), _said("rank", {order: ranks}))


@statistic
def rank_by_graft(evidence: Evidence, weights: str, less: str, part: str = IMPLICATIONS) -> Estimate:
    """Rank of a part's questions with one sort of weights added, less the rank with another sort."""
    return _difference({name: evidence.ranks("extractive_grafting", part, weights=name) for name in (weights, less)})


@statistic
def score_tells(evidence: Evidence, score: str, effect: str, kind: str) -> Estimate:
    """r² of a score with the effect of taking components away, percent, of the hop where it is lower."""
    rows = evidence.table("extractive_localisation")
    rows = rows[(rows["score"] == score) & (rows["effect"] == effect) & (rows["kind"] == kind)]
    found = _of_hops(rows, "r2", what := f"r² of {score} scores of {kind}s")
    return extreme(found, LOWEST, _said(what, found), percent=True)


@statistic
def score_agrees(evidence: Evidence, score: str, kind: str) -> Estimate:
    """r of a score with full replacement, means over questions, percent, of the hop where it is lower.

    Means and intervals over seeds are of Fisher's z.
    """
    rows = evidence.table("extractive_agreement")
    rows = rows[(rows["score"] == score) & (rows["over"] == "means") & (rows["kind"] == kind)]
    found = _of_hops(rows, "r", what := f"r of {score} scores of {kind}s with replacement")
    z = {hop: np.arctanh(values / 100) for hop, values in found.items()}
    of_z = extreme(z, LOWEST, _said(what, {hop: pd.Series(_from_z(values.mean())) for hop, values in z.items()}))
    ends = {end: _from_z(getattr(of_z, end)) for end in ("value", "low", "high")}
    return replace(of_z, **ends)


def _from_z(z: float | None) -> float | None:
    return None if z is None else 100 * float(np.tanh(z))


def _of_hops(rows: pd.DataFrame, column: str, what: str) -> dict[str, pd.Series]:
    """By hop, a column by seed, percent. Raises CannotSay where it is null everywhere."""
    if rows.empty or rows[column].isna().all():
        raise CannotSay("; ".join([f"no {what}", *sorted(set(rows["reason"].dropna()))]))
    return {f"{hop} hop": 100 * of_hop.set_index("seed")[column].astype(float) for hop, of_hop in rows.groupby("hop")}


def _questions(evidence: Evidence) -> int:
    """Of a part, and so options: each has one question."""
    return int(evidence.table("extractive_curves")["questions"].min())


def _worst(evidence: Evidence, ranks: dict[str, pd.Series]) -> Estimate:
    """The highest of some ranks of facts, percent of the worst rank."""
    questions = _questions(evidence)
    found = {name: 100 / (questions - 1) * values for name, values in ranks.items()}
    return extreme(found, HIGHEST, _said("rank of facts", found), percent=True, units=questions)


def _at_most(value: float | None, most: float) -> float | None:
    return None if value is None else min(value, most)


def _difference(ranks: dict[str, pd.Series]) -> Estimate:
    """Of the first name's ranks less the second's, seed by seed."""
    first, second = ranks.values()
    return over_seeds(first - second, _said("rank", ranks))


def _said(what: str, found: dict[str, pd.Series]) -> str:
    """Such as "rank: before 10.4, after 1.5"."""
    return f"{what}: {', '.join(f'{name} {values.mean():.3g}' for name, values in found.items())}"
