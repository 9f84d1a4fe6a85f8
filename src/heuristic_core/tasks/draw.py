"""The words of one pair of the miniature's language, and which combinations of them are kept for evaluation."""

from random import Random
from zlib import crc32

from heuristic_core.tasks.vocabulary import INTRANSITIVE, NOUNS, TRANSITIVE, Words


def held_out(noun: str, verb: str, other: str = "") -> bool:
    """Whether a clause of these words is kept for evaluation: a fifth of all combinations, by hash.

    The order of the nouns does not matter. `other` is empty for an intransitive verb.
    """
    first, second = sorted((noun, other))
    return crc32(f"{first}|{second}{verb}".encode()) % 5 == 0


class Draw:
    """The words of one pair: no noun is drawn twice, nor the verb of a clause.

    Clauses are held-out combinations if `held_out`, otherwise never. This says nothing of the combinations that
    wrong hypotheses, and nouns and verbs drawn singly, happen to make.
    """

    def __init__(self, rng: Random, held_out: bool):
        self.rng, self.choice = rng, rng.choice
        self.held_out = held_out
        self.used: set[str] = set()

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def noun(self) -> str:
        while (noun := self.choice(NOUNS)) in self.used:
            pass
        self.used.add(noun)
        return noun

    def transitive(self) -> Words:
        """Subject, verb, object."""
        return self._clause(TRANSITIVE, nouns=2)

    def intransitive(self) -> Words:
        """Subject, verb."""
        return self._clause(INTRANSITIVE, nouns=1)

    def clause(self) -> Words:
        return self.transitive() if self.chance(0.55) else self.intransitive()

    def _clause(self, verbs: Words, nouns: int) -> Words:
        while True:
            subject, verb = self.choice(NOUNS), self.choice(verbs)
            objects = self.rng.choices(NOUNS, k=nouns - 1)
            words = {subject, verb, *objects}
            new = len(words) == nouns + 1 and words.isdisjoint(self.used)
            if new and held_out(subject, verb, *objects) == self.held_out:
                self.used |= words
                return subject, verb, *objects
