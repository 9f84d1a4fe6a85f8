"""Draw in-domain pairs of each label.

Entailments are pairs of the grammar's rules; neutral pairs are pairs of any rule with new words in the hypothesis;
contradictions have "never" in one sentence.
"""

from itertools import accumulate
from typing import NamedTuple

from heuristic_core.data.languages.overlap import grammar as g
from heuristic_core.data.languages.overlap import vocabulary
from heuristic_core.data.languages.word_sampler import Words, WordSampler

LABELS = ("entailment", "neutral", "contradiction")
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)

# Relative frequency of each rule among the entailments.
_ENTAILMENT_WEIGHTS = {
    g.identity: 3, g.two_adjectives: 0.5,
    g.le_prep: 2, g.le_rel: 2, g.le_passive: 2, g.le_conj: 2,
    g.se_modified: 2, g.se_adjunct: 1.5,
    g.ce_because: 2, g.ce_verb: 1, g.ce_adv: 1, g.ce_and: 1, g.ce_scope: 2,
}  # fmt: skip
_ENTAILMENT_RULES, _CUMULATIVE_WEIGHTS = list(_ENTAILMENT_WEIGHTS), list(accumulate(_ENTAILMENT_WEIGHTS.values()))
_COUNTER_EXAMPLE_RULES = [rule for rules in g.COUNTER_EXAMPLES.values() for rule in rules]
# The other neutral pairs come from counter-examples, so that their premises also occur in-domain.
_NEUTRAL_FROM_ENTAILMENT_SHARE = 0.9
_NEGATED_HYPOTHESIS_SHARE = 0.7
# Content word of a clause -> all words of its class.
SUBSTITUTES = {
    word: words for words in (vocabulary.NOUNS, vocabulary.TRANSITIVE, vocabulary.INTRANSITIVE) for word in words
}


class LabelledPair(NamedTuple):
    """A pair of sentences and how it was made.

    Attributes:
        rule: name of the grammar's rule.
        change: what was changed in the rule's pair, or "".
        premise: words of the premise.
        hypothesis: words of the hypothesis, before `new_words`.
        new_words: (position, word) of each word that replaces a word of `hypothesis`.
    """

    rule: str
    change: str
    premise: Words
    hypothesis: Words
    new_words: tuple[tuple[int, str], ...] = ()

    @property
    def template(self) -> str:
        """The rule and the change, as in column `template`."""
        return ", ".join(filter(None, (self.rule, self.change)))

    @property
    def pair(self) -> g.Pair:
        """Premise and hypothesis, with the new words in place."""
        words = list(self.hypothesis)
        for position, word in self.new_words:
            words[position] = word
        return self.premise, tuple(words)


def draw_labelled_pair(label: int, draw: WordSampler) -> LabelledPair:
    """Draw a pair of a class.

    Args:
        label: Index of the class in `LABELS`.
        draw: Random draws, whose state advances.
    """
    return (draw_entailment, _draw_neutral, _draw_contradiction)[label](draw)


def draw_entailment(draw: WordSampler) -> LabelledPair:
    """Draw a rule by its weight, and a pair of it."""
    rule = draw.rng.choices(_ENTAILMENT_RULES, cum_weights=_CUMULATIVE_WEIGHTS)[0]
    return LabelledPair(rule.__name__, "", *rule(draw))


def _draw_neutral(draw: WordSampler) -> LabelledPair:
    """Draw a pair of any rule, and replace one to three words of its hypothesis by words not in the pair."""
    if draw.chance(_NEUTRAL_FROM_ENTAILMENT_SHARE):
        pair = draw_entailment(draw)
    else:
        rule = draw.choice(_COUNTER_EXAMPLE_RULES)
        pair = LabelledPair(rule.__name__, "", *rule(draw))
    present_words = {*pair.premise, *pair.hypothesis}
    slots = [i for i, word in enumerate(pair.hypothesis) if word in SUBSTITUTES]
    positions = draw.rng.sample(slots, min(len(slots), draw.choice((1, 2, 3))))
    new_words = [
        (i, draw.choice([word for word in SUBSTITUTES[pair.hypothesis[i]] if word not in present_words]))
        for i in positions
    ]
    return pair._replace(change="new words", new_words=tuple(new_words))


def _draw_contradiction(draw: WordSampler) -> LabelledPair:
    """Draw an entailment with a negated hypothesis, or a bare clause with a negated premise."""
    if draw.chance(_NEGATED_HYPOTHESIS_SHARE):
        pair = draw_entailment(draw)
        return pair._replace(change="negated hypothesis", hypothesis=g.negate(pair.hypothesis))
    clause = draw.transitive()
    place = ("in", draw.choice(vocabulary.PLACES)) if draw.chance(0.5) else ()
    return LabelledPair("negated premise", "", (*g.negate(clause), *place), clause)
