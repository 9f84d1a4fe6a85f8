"""Rules of the miniature's language, English with bare plurals; each makes a premise and a hypothesis.

A rule draws its words from a :class:`WordSampler` and returns premise and hypothesis as tuples of words. It chooses
uniformly from the premises (and wrong hypotheses) that it lists, so that one listed twice is twice as frequent.
Docstrings of rules give examples as "premise => hypothesis".

Rules are named and grouped into families as in HANS (McCoy et al. 2019): l, s or c for lexical overlap, subsequence or
constituent; then e if the premise entails the hypothesis, n if it does not. In both cases all words of the hypothesis
are in the premise.
"""

from collections.abc import Callable

from heuristic_core.data.languages.overlap.vocabulary import (
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
)
from heuristic_core.data.languages.word_sampler import Words, WordSampler, is_held_out_combination

Pair = tuple[Words, Words]


def negate(clause: Words) -> Words:
    """Negate a clause: "judges never saw kings"; "kings were never saw by judges"."""
    position = clause.index("were") + 1 if "were" in clause else 1
    return (*clause[:position], "never", *clause[position:])


Rule = Callable[[WordSampler], Pair]


# ---- entailments without an evaluation subset


def identity(draw: WordSampler) -> Pair:
    """Make "judges saw kings => judges saw kings"."""
    clause = draw.clause()
    return clause, clause


def two_adjectives(draw: WordSampler) -> Pair:
    """Make "old judges saw tall kings => judges saw kings"."""
    a, v, b = draw.transitive()
    return (draw.choice(ADJECTIVES), a, v, draw.choice(ADJECTIVES), b), (a, v, b)


# ---- entailments, lexical overlap


def le_prep(draw: WordSampler) -> Pair:
    """Make "judges near poets saw kings => judges saw kings"."""
    (a, v, b), p, c = draw.transitive(), draw.choice(PREPOSITIONS), draw.noun()
    return draw.choice(((a, p, c, v, b), (a, v, b, p, c))), (a, v, b)


def le_rel(draw: WordSampler) -> Pair:
    """Make "judges who slept saw kings => judges saw kings", or with the relative clause as the hypothesis."""
    (a, v, b), c = draw.transitive(), draw.noun()
    intransitive, verb = draw.choice(INTRANSITIVE), draw.choice(TRANSITIVE)
    relative_is_clause = verb != v and is_held_out_combination(a, verb, c) == draw.held_out
    hypothesis = (a, verb, c) if relative_is_clause and draw.chance(0.5) else (a, v, b)
    on_subject = draw.choice((((a, "who", intransitive, v, b), (a, v, b)), ((a, "who", verb, c, v, b), hypothesis)))
    on_object = (a, v, b, "who", intransitive), (a, v, b)
    return draw.choice((on_subject, on_object))


def le_passive(draw: WordSampler) -> Pair:
    """Make "judges saw kings => kings were saw by judges", or the reverse; verbs have a single form."""
    a, v, b = draw.transitive()
    active, passive = (a, v, b), (b, "were", v, "by", a)
    return draw.choice(((active, passive), (passive, active)))


def le_conj(draw: WordSampler) -> Pair:
    """Make "judges and poets saw kings => judges saw kings"."""
    (a, v, b), c = draw.transitive(), draw.noun()
    premises = (a, "and", c, v, b), (c, "and", a, v, b), (a, v, b, "and", c), (a, v, c, "and", b)
    return draw.choice(premises), (a, v, b)


# ---- entailments, subsequence


def se_modified(draw: WordSampler) -> Pair:
    """Make "judges slept" from a premise with an adjective, preposition, relative clause, conjunct or place."""
    (a, v), c = draw.intransitive(), draw.noun()
    premises = (
        (draw.choice(ADJECTIVES), a, v),
        (a, draw.choice(PREPOSITIONS), c, v),
        (a, "who", draw.choice(TRANSITIVE), c, v),
        (a, "and", c, v),
        (a, v, "in", draw.choice(PLACES)),
    )
    return draw.choice(premises), (a, v)


def se_adjunct(draw: WordSampler) -> Pair:
    """Make "old judges saw kings => judges saw kings", or with "judges saw kings in parks"."""
    clause = draw.transitive()
    adjective, place = (draw.choice(ADJECTIVES), *clause), (*clause, "in", draw.choice(PLACES))
    return draw.choice((adjective, place, place)), clause


# ---- entailments, constituent


def ce_because(draw: WordSampler) -> Pair:
    """Make "because judges slept , kings ran => kings ran"; either order of premise, either clause."""
    first, second, cue = draw.clause(), draw.clause(), draw.choice(FACTUAL_CONJUNCTIONS)
    return draw.choice(((cue, *first, ",", *second), (*first, cue, *second))), draw.choice((first, second))


def ce_verb(draw: WordSampler) -> Pair:
    """Make "poets knew that judges slept => judges slept"."""
    clause = draw.clause()
    return (draw.noun(), draw.choice(FACTIVES), "that", *clause), clause


def ce_adv(draw: WordSampler) -> Pair:
    """Make "clearly judges slept => judges slept"."""
    clause = draw.clause()
    return (draw.choice(CERTAIN_ADVERBS), *clause), clause


def ce_and(draw: WordSampler) -> Pair:
    """Make "judges slept and kings ran => judges slept"; either clause."""
    first, second = draw.clause(), draw.clause()
    return (*first, "and", *second), draw.choice((first, second))


def ce_scope(draw: WordSampler) -> Pair:
    """Make "judges slept and perhaps kings ran => judges slept".

    The premise holds a cue word of the constituent counter-examples outside the hypothesis. Without such pairs, a cue
    word alone would identify those counter-examples.
    """
    clause, second, third = draw.clause(), draw.intransitive(), draw.intransitive()
    doubted = (draw.choice(DOUBTFUL_ADVERBS), *second)
    believed = (draw.noun(), draw.choice(NON_FACTIVES), "that", *second)
    premises = (
        (*clause, "and", draw.choice(CONDITIONALS), *second, ",", *third),
        draw.choice(((*clause, "and", *doubted), (*doubted, "and", *clause))),
        draw.choice(((*clause, "and", *believed), (*believed, "and", *clause))),
        (draw.choice(FACTUAL_CONJUNCTIONS), *second, "or", *third, ",", *clause),
    )
    return draw.choice(premises), clause


# ---- counter-examples, lexical overlap


def ln_so_swap(draw: WordSampler) -> Pair:
    """Make "judges saw kings => kings saw judges"."""
    a, v, b = draw.transitive()
    return (a, v, b), (b, v, a)


def ln_prep(draw: WordSampler) -> Pair:
    """Make "judges near poets saw kings => poets saw kings"."""
    (a, v, b), p, c = draw.transitive(), draw.choice(PREPOSITIONS), draw.noun()
    on_subject = (a, p, c, v, b), ((b, v, c), (c, v, b), (b, v, a))
    on_object = (a, v, b, p, c), ((c, v, a), (a, v, c), (b, v, a))
    premise, hypotheses = draw.choice((on_subject, on_object))
    return premise, draw.choice(hypotheses)


def ln_rel(draw: WordSampler) -> Pair:
    """Make "judges who poets met saw kings => poets saw kings"."""
    (a, v, b), c = draw.transitive(), draw.noun()
    relative_verb = draw.choice([verb for verb in TRANSITIVE if verb != v])
    on_subject = (a, "who", c, relative_verb, v, b), ((b, v, a), (a, relative_verb, c), (c, v, b))
    on_object = (a, v, b, "who", c, relative_verb), ((b, v, a), (a, relative_verb, c), (c, v, a))
    premise, hypotheses = draw.choice((on_subject, on_object))
    return premise, draw.choice(hypotheses)


def ln_passive(draw: WordSampler) -> Pair:
    """Make "judges were saw by kings => judges saw kings"."""
    a, v, b = draw.transitive()
    return (a, "were", v, "by", b), (a, v, b)


def ln_conj(draw: WordSampler) -> Pair:
    """Make "judges and poets saw kings => judges saw poets"."""
    (a, v, b), c = draw.transitive(), draw.noun()
    in_subject = (a, "and", c, v, b), ((a, v, c), (b, v, c))
    in_object = (a, v, b, "and", c), ((b, v, c), (c, v, a))
    premise, hypotheses = draw.choice((in_subject, in_object))
    return premise, draw.choice(hypotheses)


# ---- counter-examples, subsequence


def sn_pp(draw: WordSampler) -> Pair:
    """Make "poets near judges slept => judges slept"."""
    clause = draw.intransitive()
    return (draw.noun(), draw.choice(PREPOSITIONS), *clause), clause


def sn_rel(draw: WordSampler) -> Pair:
    """Make "poets who met judges slept => judges slept"."""
    clause = draw.intransitive()
    return (draw.noun(), "who", draw.choice(TRANSITIVE), *clause), clause


# ---- counter-examples, constituent


def cn_if(draw: WordSampler) -> Pair:
    """Make "if judges slept , kings ran => kings ran"; either order of premise, either clause."""
    first, second, cue = draw.clause(), draw.clause(), draw.choice(CONDITIONALS)
    return draw.choice(((cue, *first, ",", *second), (*first, cue, *second))), draw.choice((first, second))


def cn_verb(draw: WordSampler) -> Pair:
    """Make "poets believed that judges slept => judges slept"."""
    clause = draw.clause()
    return (draw.noun(), draw.choice(NON_FACTIVES), "that", *clause), clause


def cn_adv(draw: WordSampler) -> Pair:
    """Make "perhaps judges slept => judges slept"."""
    clause = draw.clause()
    return (draw.choice(DOUBTFUL_ADVERBS), *clause), clause


def cn_or(draw: WordSampler) -> Pair:
    """Make "judges slept or kings ran => judges slept"; either clause."""
    first, second = draw.clause(), draw.clause()
    return (*first, "or", *second), draw.choice((first, second))


# Family -> rules; the counter-examples are in the order of the configuration's weights.
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
