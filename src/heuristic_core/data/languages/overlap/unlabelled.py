"""Generate unlabelled sentence pairs, on which the miniature is pre-trained.

A share of the pairs is related: two sentences that a rule makes of the same words, in either order, whether or not one
entails the other. The rest is unrelated. Only in related pairs can a masked word be found in the other sentence. The
rules are those of the task, all equally frequent, so that nearly half of the related pairs are built like its
counter-examples. The pairs do not show which sentence entails which. No clause is drawn from the held-out combinations
of words, though wrong hypotheses may form one.
"""

from random import Random

from heuristic_core.data.languages.overlap import grammar as g
from heuristic_core.data.languages.overlap.vocabulary import LEXICON
from heuristic_core.data.languages.word_sampler import WordSampler

RULES = [rule for families in (g.ENTAILMENTS, g.COUNTER_EXAMPLES) for rules in families.values() for rule in rules]
RULES += [g.identity, g.two_adjectives]
NEGATED_SHARE = 0.1  # of the hypotheses, so that the model learns "never"


def generate_unlabelled_pairs(count: int, related: float, seed: str) -> list[dict]:
    """Generate `count` rows with `sentence1` and `sentence2`.

    Args:
        count: number of pairs.
        related: share of pairs whose sentences come from the same pair of a rule.
        seed: of the random numbers.
    """
    rng = Random(seed)
    rows = []
    for _ in range(count):
        first, second = rng.sample(_draw_pair(rng), 2)
        if rng.random() >= related:
            second = rng.choice(_draw_pair(rng))
        rows.append({"sentence1": " ".join(first), "sentence2": " ".join(second)})
    return rows


def _draw_pair(rng: Random) -> g.Pair:
    """Draw premise and hypothesis of any rule, all equally frequent."""
    premise, hypothesis = rng.choice(RULES)(WordSampler(rng, held_out=False, lexicon=LEXICON))
    return premise, g.negate(hypothesis) if rng.random() < NEGATED_SHARE else hypothesis
