"""One in-domain pair of each label.

A pair is an entailment by one of the grammar's rules; a neutral pair, which is a pair of any rule with new words in the
hypothesis; or a contradiction, which has "never" on one side.
"""

from itertools import accumulate
from typing import NamedTuple

from heuristic_core.tasks import grammar as g
from heuristic_core.tasks import vocabulary
from heuristic_core.tasks.draw import Draw
from heuristic_core.tasks.vocabulary import Words

LABELS = ("entailment", "neutral", "contradiction")
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)

# How often each rule makes an entailment, relative to the others.
_ENTAILMENT_WEIGHTS = {
    g.identity: 3, g.two_adjectives: 0.5,
    g.le_prep: 2, g.le_rel: 2, g.le_passive: 2, g.le_conj: 2,
    g.se_modified: 2, g.se_adjunct: 1.5,
    g.ce_because: 2, g.ce_verb: 1, g.ce_adv: 1, g.ce_and: 1, g.ce_scope: 2,
}  # fmt: skip
_ENTAILMENTS, _CUMULATIVE = list(_ENTAILMENT_WEIGHTS), list(accumulate(_ENTAILMENT_WEIGHTS.values()))
_COUNTER_EXAMPLES = [rule for rules in g.COUNTER_EXAMPLES.values() for rule in rules]
# The other neutral pairs have a counter-example's premise, so that these premises are not foreign in-domain.
_NEUTRAL_FROM_ENTAILMENT = 0.9
_NEGATED_HYPOTHESIS = 0.7
# Content word of a clause -> the words that can take its place.
SAME_CLASS = {
    word: words for words in (vocabulary.NOUNS, vocabulary.TRANSITIVE, vocabulary.INTRANSITIVE) for word in words
}


class Labelled(NamedTuple):
    """A pair and how it was made.

    rule: the grammar's. change: what was done to the rule's pair, or "". new_words: (position, word) of the words that
    take the place of words of `hypothesis`.
    """

    rule: str
    change: str
    premise: Words
    hypothesis: Words
    new_words: tuple[tuple[int, str], ...] = ()

    @property
    def template(self) -> str:
        return ", ".join(filter(None, (self.rule, self.change)))

    @property
    def pair(self) -> g.Pair:
        """Premise and hypothesis, the latter with its new words."""
        words = list(self.hypothesis)
        for position, word in self.new_words:
            words[position] = word
        return self.premise, tuple(words)


def labelled(label: int, draw: Draw) -> Labelled:
    """A pair of the class `label` of `LABELS`."""
    return (entailment, _neutral, _contradiction)[label](draw)


def entailment(draw: Draw) -> Labelled:
    """The pair of a rule, drawn by the rules' weights."""
    rule = draw.rng.choices(_ENTAILMENTS, cum_weights=_CUMULATIVE)[0]
    return Labelled(rule.__name__, "", *rule(draw))


def _neutral(draw: Draw) -> Labelled:
    """A pair of any rule, one to three words of its hypothesis replaced by words that are not in the pair."""
    if draw.chance(_NEUTRAL_FROM_ENTAILMENT):
        made = entailment(draw)
    else:
        rule = draw.choice(_COUNTER_EXAMPLES)
        made = Labelled(rule.__name__, "", *rule(draw))
    present = {*made.premise, *made.hypothesis}
    slots = [i for i, word in enumerate(made.hypothesis) if word in SAME_CLASS]
    replaced = draw.rng.sample(slots, min(len(slots), draw.choice((1, 2, 3))))
    new_words = [
        (i, draw.choice([word for word in SAME_CLASS[made.hypothesis[i]] if word not in present])) for i in replaced
    ]
    return made._replace(change="new words", new_words=tuple(new_words))


def _contradiction(draw: Draw) -> Labelled:
    """An entailment with its hypothesis negated, or a bare clause with its premise negated."""
    if draw.chance(_NEGATED_HYPOTHESIS):
        made = entailment(draw)
        return made._replace(change="negated hypothesis", hypothesis=g.negated(made.hypothesis))
    clause = draw.transitive()
    place = ("in", draw.choice(vocabulary.PLACES)) if draw.chance(0.5) else ()
    return Labelled("negated premise", "", (*g.negated(clause), *place), clause)
