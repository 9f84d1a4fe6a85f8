"""Statistics of claims about extractive structures, over the study's seeds. Ranks are mean ranks: 0 is right."""

from dataclasses import replace

import numpy as np
import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.training_seeds import HIGHEST, extreme, over_seeds
from heuristic_core.experiments.extractive_structures.correlations import lowest_correlation
from heuristic_core.experiments.extractive_structures.evidence import HOPS, IMPLICATIONS, TEST_FACTS, Evidence, by_hop

WHOLE = "whole"


@statistic
def rank_of_facts(evidence: Evidence, corpus: str = WHOLE) -> Estimate:
    """Mean rank of the facts of a hop after they are taught, of the hop that is worse."""
    return _worst(evidence, {f"{hop} hop": evidence.taught(hop, corpus, "facts") for hop in HOPS})


@statistic
def rank_of_facts_by_layers(evidence: Evidence, hop: str, how: str) -> Estimate:
    """The same of a hop's facts where early layers are frozen (or restored, as `how` says), and where late ones are."""
    where = {"hop": hop, "how": how}
    found = {name: evidence.ranks("extractive_freezing", "facts", **where, layers=name) for name in ("early", "late")}
    return _worst(evidence, found)


@statistic
def rank_of_facts_by_order(evidence: Evidence, order: str, less: str) -> Estimate:
    """The same of test names' facts, at the end of two orders of teaching."""
    return _worst(evidence, {name: evidence.ordered(name, TEST_FACTS) for name in (order, less)})


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
    return _within(over_seeds(100 * (before - after) / before, said), -np.inf, 100)


@statistic
def rank_left_by_corpus(evidence: Evidence, hop: str, corpus: str) -> Estimate:
    """Rank of implications after teaching facts: pre-trained on `corpus` less pre-trained on the whole corpus."""
    ranks = {name: evidence.taught(hop, name, IMPLICATIONS) for name in (corpus, WHOLE)}
    return _difference(evidence, ranks)


@statistic
def rank_by_layers(evidence: Evidence, hop: str, how: str, part: str = IMPLICATIONS) -> Estimate:
    """Rank where early layers are frozen (or restored, as `how` says) less the rank where late layers are."""
    ranks = {
        layers: evidence.ranks("extractive_freezing", part, hop=hop, how=how, layers=layers)
        for layers in ("early", "late")
    }
    return _difference(evidence, ranks)


@statistic
def rank_by_order(evidence: Evidence, order: str, less: str) -> Estimate:
    """Rank of test names' implications after one order of teaching, less the rank after another order."""
    return _difference(evidence, {name: evidence.ordered(name) for name in (order, less)})


@statistic
def rank_after_order(evidence: Evidence, order: str) -> Estimate:
    """Rank of test names' implications after an order of teaching, percent of the rank by chance."""
    chance = (_questions(evidence) - 1) / 2
    return _within(over_seeds(100 / chance * (ranks := evidence.ordered(order)), _said("rank", {order: ranks})), 0, 200)


@statistic
def rank_by_graft(evidence: Evidence, weights: str, less: str, part: str = IMPLICATIONS) -> Estimate:
    """Rank of a part's questions with one sort of weights added, less the rank with another sort."""
    return _difference(
        evidence, {name: evidence.ranks("extractive_grafting", part, weights=name) for name in (weights, less)}
    )


@statistic
def stored_where_read(evidence: Evidence, kind: str) -> Estimate:
    """r of where implications are stored and which components process other facts, over components at tokens."""
    rows = evidence.table("extractive_localisation")
    rows = rows[rows["kind"] == kind]
    _known(rows, what := f"r of informative and downstream scores of {kind}s")
    return lowest_correlation({"": rows.set_index("seed")["r"].astype(float)}, what)


@statistic
def score_tells(evidence: Evidence, score: str, effect: str, kind: str) -> Estimate:
    """r of a score with the effect of taking components away, of the hop where it is lower."""
    rows = evidence.table("extractive_removal")
    rows = rows[(rows["score"] == score) & (rows["effect"] == effect) & (rows["kind"] == kind)]
    return _lowest_of_hops(rows, f"r of {score} scores of {kind}s")


@statistic
def score_agrees(evidence: Evidence, score: str, kind: str) -> Estimate:
    """r of a score with full replacement, means over questions, of the hop where it is lower."""
    rows = evidence.table("extractive_agreement")
    rows = rows[(rows["score"] == score) & (rows["over"] == "means") & (rows["kind"] == kind)]
    return _lowest_of_hops(rows, f"r of {score} scores of {kind}s with replacement")


def _lowest_of_hops(rows: pd.DataFrame, what: str) -> Estimate:
    """The lower mean r of both hops."""
    _known(rows, what)
    return lowest_correlation(by_hop(rows, "r"), what)


def _known(rows: pd.DataFrame, what: str) -> None:
    """Raises CannotSay where r is null everywhere."""
    if rows.empty or rows["r"].isna().all():
        raise CannotSay("; ".join([f"no {what}", *sorted(set(rows["reason"].dropna()))]))


def _questions(evidence: Evidence) -> int:
    """Of a part, and so options: each has one question."""
    return int(evidence.table("extractive_curves")["questions"].min())


def _worst(evidence: Evidence, ranks: dict[str, pd.Series]) -> Estimate:
    """The highest of some mean ranks of facts.

    Where no model has a fact wrong, the interval reaches to Wilson's bound of the share of wrong facts, all at the
    worst rank.
    """
    questions = _questions(evidence)
    unit = (questions - 1) / 100
    percent = {name: values / unit for name, values in ranks.items()}
    found = extreme(percent, HIGHEST, _said("rank of facts", ranks), percent=True, units=questions)
    return replace(found, **{end: _times(getattr(found, end), unit) for end in ("value", "low", "high")})


def _within(found: Estimate, lowest: float, highest: float) -> Estimate:
    """The estimate with an interval of possible values."""
    if found.low is None:
        return found
    return replace(found, low=max(found.low, lowest), high=min(found.high, highest))


def _difference(evidence: Evidence, ranks: dict[str, pd.Series]) -> Estimate:
    """Of the first name's ranks less the second's, seed by seed."""
    first, second = ranks.values()
    worst = _questions(evidence) - 1
    return _within(over_seeds(first - second, _said("rank", ranks)), -worst, worst)


def _times(value: float | None, by: float) -> float | None:
    return None if value is None else value * by


def _said(what: str, found: dict[str, pd.Series]) -> str:
    """Such as "rank: before 10.4, after 1.5"."""
    return f"{what}: {', '.join(f'{name} {values.mean():.3g}' for name, values in found.items())}"
