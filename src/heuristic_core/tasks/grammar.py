"""The rules of the miniature's language, English with bare plurals: each makes a premise and a hypothesis.

A rule takes a :class:`Draw`, the source of its words, and returns the premise and the hypothesis as tuples of words.
It lists the premises (and wrong hypotheses) that it can make and chooses among them, each as often as listed.
Rules are named, and grouped into families, as in HANS (McCoy et al. 2019): l, s or c for lexical overlap,
subsequence or constituent; then e where the hypothesis follows, n where it does not. In both, all words of the
hypothesis are in the premise.
"""

from collections.abc import Callable

from heuristic_core.tasks.draw import Draw, held_out
from heuristic_core.tasks.vocabulary import (
    ADJECTIVES,
    CERTAIN_ADVERBS,
    CONDITIONALS,
    DOUBTFUL_ADVERBS,
    FACTIVES,
    FACTUAL_CONJUNCTIONS,
    INTRANSITIVE,
    NON_FACTIVES,
    PLACES,
    PREPOSITIONS,
    TRANSITIVE,
    Words,
)

Pair = tuple[Words, Words]


def negated(clause: Words) -> Words:
    """judges never saw kings; kings were never saw by judges"""
    position = clause.index("were") + 1 if "were" in clause else 1
    return (*clause[:position], "never", *clause[position:])


Rule = Callable[[Draw], Pair]


# ---- entailments that are in no evaluation subset of their own


def identity(d: Draw) -> Pair:
    """judges saw kings => judges saw kings"""
    clause = d.clause()
    return clause, clause


def two_adjectives(d: Draw) -> Pair:
    """old judges saw tall kings => judges saw kings"""
    a, v, b = d.transitive()
    return (d.choice(ADJECTIVES), a, v, d.choice(ADJECTIVES), b), (a, v, b)


# ---- entailments, lexical overlap


def le_prep(d: Draw) -> Pair:
    """judges near poets saw kings => judges saw kings"""
    (a, v, b), p, c = d.transitive(), d.choice(PREPOSITIONS), d.noun()
    return d.choice(((a, p, c, v, b), (a, v, b, p, c))), (a, v, b)


def le_rel(d: Draw) -> Pair:
    """judges who slept saw kings => judges saw kings; judges who met poets saw kings => judges met poets"""
    (a, v, b), c = d.transitive(), d.noun()
    slept, met = d.choice(INTRANSITIVE), d.choice(TRANSITIVE)
    relative_is_clause = met != v and held_out(a, met, c) == d.held_out
    hypothesis = (a, met, c) if relative_is_clause and d.chance(0.5) else (a, v, b)
    on_subject = d.choice((((a, "who", slept, v, b), (a, v, b)), ((a, "who", met, c, v, b), hypothesis)))
    on_object = (a, v, b, "who", slept), (a, v, b)
    return d.choice((on_subject, on_object))


def le_passive(d: Draw) -> Pair:
    """judges saw kings => kings were saw by judges (the language has one form per verb), and back"""
    a, v, b = d.transitive()
    active, passive = (a, v, b), (b, "were", v, "by", a)
    return d.choice(((active, passive), (passive, active)))


def le_conj(d: Draw) -> Pair:
    """judges and poets saw kings => judges saw kings"""
    (a, v, b), c = d.transitive(), d.noun()
    premises = (a, "and", c, v, b), (c, "and", a, v, b), (a, v, b, "and", c), (a, v, c, "and", b)
    return d.choice(premises), (a, v, b)


# ---- entailments, subsequence


def se_modified(d: Draw) -> Pair:
    """old judges, judges near poets, judges who met poets or judges and poets slept => judges slept"""
    (a, v), c = d.intransitive(), d.noun()
    premises = (
        (d.choice(ADJECTIVES), a, v),
        (a, d.choice(PREPOSITIONS), c, v),
        (a, "who", d.choice(TRANSITIVE), c, v),
        (a, "and", c, v),
        (a, v, "in", d.choice(PLACES)),
    )
    return d.choice(premises), (a, v)


def se_adjunct(d: Draw) -> Pair:
    """old judges saw kings, or judges saw kings in parks => judges saw kings"""
    clause = d.transitive()
    adjective, place = (d.choice(ADJECTIVES), *clause), (*clause, "in", d.choice(PLACES))
    return d.choice((adjective, place, place)), clause


# ---- entailments, constituent


def ce_because(d: Draw) -> Pair:
    """because judges slept , kings ran, or judges slept because kings ran => either clause"""
    one, other, cue = d.clause(), d.clause(), d.choice(FACTUAL_CONJUNCTIONS)
    return d.choice(((cue, *one, ",", *other), (*one, cue, *other))), d.choice((one, other))


def ce_verb(d: Draw) -> Pair:
    """poets knew that judges slept => judges slept"""
    clause = d.clause()
    return (d.noun(), d.choice(FACTIVES), "that", *clause), clause


def ce_adv(d: Draw) -> Pair:
    """clearly judges slept => judges slept"""
    clause = d.clause()
    return (d.choice(CERTAIN_ADVERBS), *clause), clause


def ce_and(d: Draw) -> Pair:
    """judges slept and kings ran => either clause"""
    one, other = d.clause(), d.clause()
    return (*one, "and", *other), d.choice((one, other))


def ce_scope(d: Draw) -> Pair:
    """judges slept and perhaps kings ran => judges slept

    The cue words of the constituent counter-examples, elsewhere in the premise: without such pairs a cue word
    alone would give those counter-examples away.
    """
    clause, second, third = d.clause(), d.intransitive(), d.intransitive()
    doubted = (d.choice(DOUBTFUL_ADVERBS), *second)
    believed = (d.noun(), d.choice(NON_FACTIVES), "that", *second)
    premises = (
        (*clause, "and", d.choice(CONDITIONALS), *second, ",", *third),
        d.choice(((*clause, "and", *doubted), (*doubted, "and", *clause))),
        d.choice(((*clause, "and", *believed), (*believed, "and", *clause))),
        (d.choice(FACTUAL_CONJUNCTIONS), *second, "or", *third, ",", *clause),
    )
    return d.choice(premises), clause


# ---- counter-examples, lexical overlap


def ln_so_swap(d: Draw) -> Pair:
    """judges saw kings => kings saw judges"""
    a, v, b = d.transitive()
    return (a, v, b), (b, v, a)


def ln_prep(d: Draw) -> Pair:
    """judges near poets saw kings => poets saw kings"""
    (a, v, b), p, c = d.transitive(), d.choice(PREPOSITIONS), d.noun()
    on_subject = (a, p, c, v, b), ((b, v, c), (c, v, b), (b, v, a))
    on_object = (a, v, b, p, c), ((c, v, a), (a, v, c), (b, v, a))
    premise, hypotheses = d.choice((on_subject, on_object))
    return premise, d.choice(hypotheses)


def ln_rel(d: Draw) -> Pair:
    """judges who poets met saw kings => poets saw kings"""
    (a, v, b), c = d.transitive(), d.noun()
    inner = d.choice([verb for verb in TRANSITIVE if verb != v])
    on_subject = (a, "who", c, inner, v, b), ((b, v, a), (a, inner, c), (c, v, b))
    on_object = (a, v, b, "who", c, inner), ((b, v, a), (a, inner, c), (c, v, a))
    premise, hypotheses = d.choice((on_subject, on_object))
    return premise, d.choice(hypotheses)


def ln_passive(d: Draw) -> Pair:
    """judges were saw by kings => judges saw kings"""
    a, v, b = d.transitive()
    return (a, "were", v, "by", b), (a, v, b)


def ln_conj(d: Draw) -> Pair:
    """judges and poets saw kings => judges saw poets"""
    (a, v, b), c = d.transitive(), d.noun()
    in_subject = (a, "and", c, v, b), ((a, v, c), (b, v, c))
    in_object = (a, v, b, "and", c), ((b, v, c), (c, v, a))
    premise, hypotheses = d.choice((in_subject, in_object))
    return premise, d.choice(hypotheses)


# ---- counter-examples, subsequence


def sn_pp(d: Draw) -> Pair:
    """poets near judges slept => judges slept"""
    clause = d.intransitive()
    return (d.noun(), d.choice(PREPOSITIONS), *clause), clause


def sn_rel(d: Draw) -> Pair:
    """poets who met judges slept => judges slept"""
    clause = d.intransitive()
    return (d.noun(), "who", d.choice(TRANSITIVE), *clause), clause


# ---- counter-examples, constituent


def cn_if(d: Draw) -> Pair:
    """if judges slept , kings ran, or judges slept if kings ran => either clause"""
    one, other, cue = d.clause(), d.clause(), d.choice(CONDITIONALS)
    return d.choice(((cue, *one, ",", *other), (*one, cue, *other))), d.choice((one, other))


def cn_verb(d: Draw) -> Pair:
    """poets believed that judges slept => judges slept"""
    clause = d.clause()
    return (d.noun(), d.choice(NON_FACTIVES), "that", *clause), clause


def cn_adv(d: Draw) -> Pair:
    """perhaps judges slept => judges slept"""
    clause = d.clause()
    return (d.choice(DOUBTFUL_ADVERBS), *clause), clause


def cn_or(d: Draw) -> Pair:
    """judges slept or kings ran => either clause"""
    one, other = d.clause(), d.clause()
    return (*one, "or", *other), d.choice((one, other))


# The rules of each family. The counter-examples are in the order of the configuration's weights.
COUNTER_EXAMPLES: dict[str, tuple[Rule, ...]] = {
    "lexical_overlap": (ln_so_swap, ln_prep, ln_rel, ln_passive, ln_conj),
    "subsequence": (sn_pp, sn_rel),
    "constituent": (cn_if, cn_verb, cn_adv, cn_or),
}
ENTAILMENTS: dict[str, tuple[Rule, ...]] = {
    "lexical_overlap": (le_prep, le_rel, le_passive, le_conj),
    "subsequence": (se_modified, se_adjunct),
    "constituent": (ce_because, ce_verb, ce_adv, ce_and, ce_scope),
}
