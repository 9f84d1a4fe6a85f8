"""What the jobs of one seed begin with: the seed's world, as sentences and as tokens."""

from typing import NamedTuple

from heuristic_core.experiments.extractive_structures.config import Data
from heuristic_core.experiments.extractive_structures.data import (
    Hop,
    MadeUp,
    corpus,
    first_hop,
    implied_by_homes,
    made_up,
    names,
    second_hop,
)
from heuristic_core.experiments.extractive_structures.tokens import Asked, Examples, Vocabulary, asked, examples
from heuristic_core.experiments.extractive_structures.world import world

MAKERS = {"first": first_hop, "second": second_hop}
HOPS = tuple(MAKERS)


class Taught(NamedTuple):
    """A hop as a model meets it. parts: the questions on its facts, and on what they imply."""

    hop: Hop
    facts: Examples
    parts: dict[str, Asked]


class Setting:
    """The world of a seed, and the embedded model's vocabulary."""

    def __init__(self, data: Data, seed: int):
        self.data, self.seed, self.world = data, seed, world()
        self.vocabulary = Vocabulary(self.world)
        self.names = names(self.world, data, seed)

    def corpus(self, kind: str) -> Examples:
        """What a model is pre-trained on."""
        return examples(corpus(self.world, self.data, kind, self.names.people, self.seed), self.vocabulary)

    def taught(self, name: str) -> Taught:
        """The first or the second hop."""
        hop = MAKERS[name](self.world, self.data, self.names.taught, self.seed)
        parts = {"facts": asked(hop.facts, self.vocabulary), "implications": asked(hop.implications, self.vocabulary)}
        return Taught(hop, examples(hop.facts.sentences, self.vocabulary), parts)

    def related(self) -> dict[str, Asked]:
        """By relation of the world, what facts of the first hop imply."""
        found = {}
        for relation in self.world.relations:
            questions = implied_by_homes(self.world, self.data, self.names.taught, self.seed, relation)
            found[relation] = asked(questions, self.vocabulary)
        return found

    def made_up(self) -> MadeUp:
        """The facts of made-up words, in both versions."""
        return made_up(self.world, self.data, self.names.taught, self.seed)
