"""Pairs of sentences of the generated language without labels: what the miniature is pre-trained on.

A share of the pairs are related: two sentences that a rule makes of the same words, in either order, whether or not the
one follows from the other. The rest are unrelated. Only in the former can a masked word be found in the other sentence.
The rules are those of the task, each as often as the others, so that nearly half of the related pairs are built as
its counter-examples are. Nothing says which sentence follows from which. No clause is drawn from the held-out
combinations of words, though wrong hypotheses may make one.
"""

from random import Random

from heuristic_core.tasks import grammar as g
from heuristic_core.tasks.draw import Draw

RULES = [rule for families in (g.ENTAILMENTS, g.COUNTER_EXAMPLES) for rules in families.values() for rule in rules]
RULES += [g.identity, g.two_adjectives]
NEGATED = 0.1  # of the hypotheses, so that "never" is a known word


def unlabelled_pairs(count: int, related: float, seed: str) -> list[dict]:
    """`count` rows with `sentence1` and `sentence2`, drawn from `seed`.

    related: the share of pairs whose sentences are of one rule's pair.
    """
    rng = Random(seed)
    rows = []
    for _ in range(count):
        first, second = rng.sample(_pair(rng), 2)
        if rng.random() >= related:
            second = rng.choice(_pair(rng))
        rows.append({"sentence1": " ".join(first), "sentence2": " ".join(second)})
    return rows


def _pair(rng: Random) -> g.Pair:
    """Premise and hypothesis of any rule, each rule as often as the others."""
    premise, hypothesis = rng.choice(RULES)(Draw(rng, held_out=False))
    return premise, g.negated(hypothesis) if rng.random() < NEGATED else hypothesis
