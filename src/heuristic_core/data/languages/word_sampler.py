"""Sample the words of an example of a generated language; some combinations are held out for evaluation."""

from random import Random
from typing import NamedTuple
from zlib import crc32

Words = tuple[str, ...]


class Lexicon(NamedTuple):
    """The words of which clauses are made."""

    nouns: Words
    transitive: Words
    intransitive: Words
    ditransitive: Words = ()


def is_held_out_combination(noun: str, verb: str, other: str = "") -> bool:
    """Return whether a clause of these words is held out for evaluation: a fifth of all combinations, by hash.

    The order of the nouns does not matter.

    Args:
        noun: a noun of the clause.
        verb: the verb of the clause.
        other: the clause's other noun; empty for an intransitive verb.
    """
    first, second = sorted((noun, other))
    return crc32(f"{first}|{second}{verb}".encode()) % 5 == 0


class WordSampler:
    """Samples the words of one example, without repeating a noun or the verb of a clause.

    All clauses are held-out combinations if `held_out`, and none is otherwise. This does not cover combinations that
    arise by chance from wrong hypotheses, or from nouns and verbs drawn separately.
    """

    def __init__(self, rng: Random, held_out: bool, lexicon: Lexicon):
        self.rng, self.choice = rng, rng.choice
        self.lexicon = lexicon
        self.held_out = held_out
        self.used: set[str] = set()

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.rng.random() < probability

    def noun(self) -> str:
        """Draw a new noun."""
        while (noun := self.choice(self.lexicon.nouns)) in self.used:
            pass
        self.used.add(noun)
        return noun

    def transitive(self, nouns: int = 2) -> Words:
        """Draw a clause of subject, verb and object, or with one noun a passive without an agent."""
        return self._clause(self.lexicon.transitive, nouns)

    def ditransitive(self, nouns: int = 2) -> Words:
        """Draw subject, verb and receiver of a clause with two objects, or with one noun only the receiver."""
        return self._clause(self.lexicon.ditransitive, nouns)

    def intransitive(self) -> Words:
        """Draw a clause of subject and verb."""
        return self._clause(self.lexicon.intransitive, nouns=1)

    def clause(self) -> Words:
        """Draw a transitive or an intransitive clause."""
        return self.transitive() if self.chance(0.55) else self.intransitive()

    def _clause(self, verbs: Words, nouns: int) -> Words:
        while True:
            subject, verb = self.choice(self.lexicon.nouns), self.choice(verbs)
            objects = self.rng.choices(self.lexicon.nouns, k=nouns - 1)
            words = {subject, verb, *objects}
            is_new = len(words) == nouns + 1 and words.isdisjoint(self.used)
            if is_new and is_held_out_combination(subject, verb, *objects) == self.held_out:
                self.used |= words
                return subject, verb, *objects
