"""What the jobs of one seed share: the seed's world as sentences and tokens, on the job's device."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import save_file
from torch import Tensor

from heuristic_core.common.atomic import replace_atomically
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.extractive_structures.config import Data
from heuristic_core.experiments.extractive_structures.data import (
    Hop,
    MadeUpFacts,
    Questions,
    Sentence,
    draw_corpus,
    draw_first_hop,
    draw_home_implications,
    draw_made_up_facts,
    draw_names,
    draw_second_hop,
)
from heuristic_core.experiments.extractive_structures.tokens import (
    Examples,
    HubTokenizer,
    Queries,
    Vocabulary,
    encode_examples,
    encode_queries,
)
from heuristic_core.experiments.extractive_structures.world import load_world
from heuristic_core.models.device import resolve_device, resolve_dtype

HOP_FUNCTIONS = {"first": draw_first_hop, "second": draw_second_hop}
HOPS = tuple(HOP_FUNCTIONS)


class EncodedHop(NamedTuple):
    """An encoded hop.

    Attributes:
        hop: Sentences; their roles are those of tokens.
        facts: Facts, for teaching.
        parts: Questions by part: "facts" and "implications".
    """

    hop: Hop
    facts: Examples
    parts: dict[str, Queries]


class Setting:
    """The world of a seed, and how it is encoded.

    Args:
        data: Who and what facts are about.
        seed: Seed of all draws.
        tokenizer: Folder of a tokenizer; default: the embedded model's vocabulary.

    Attributes:
        world: Cities, relations and sentences.
        vocabulary: Encodes words as tokens.
        names: The seed's names of people.
    """

    def __init__(self, data: Data, seed: int, tokenizer: Path | None = None):
        self.data, self.seed, self.world = data, seed, load_world()
        self.vocabulary = Vocabulary(self.world) if tokenizer is None else HubTokenizer(tokenizer)
        self.names = draw_names(self.world, data, seed)

    def encode_corpus(self, kind: str) -> Examples:
        """Return the encoded corpus of pre-training of a kind, see :func:`.draw_corpus`."""
        return encode_examples(draw_corpus(self.world, self.data, kind, self.names.people, self.seed), self.vocabulary)

    def encode_hop(self, name: str) -> EncodedHop:
        """Return the encoded hop `name`, "first" or "second"."""
        hop = HOP_FUNCTIONS[name](self.world, self.data, self.names.taught, self.seed)
        hop = Hop(
            *(Questions([self._use_token_roles(sentence) for sentence in part.sentences], part.options) for part in hop)
        )
        parts = {
            "facts": encode_queries(hop.facts, self.vocabulary),
            "implications": encode_queries(hop.implications, self.vocabulary),
        }
        return EncodedHop(hop, encode_examples(hop.facts.sentences, self.vocabulary), parts)

    def encode_relations(self) -> dict[str, Queries]:
        """Return the questions on what facts of the first hop imply, by relation of the world."""
        queries = {}
        for relation in self.world.relations:
            questions = draw_home_implications(self.world, self.data, self.names.taught, self.seed, relation)
            queries[relation] = encode_queries(questions, self.vocabulary)
        return queries

    def _use_token_roles(self, sentence: Sentence) -> Sentence:
        """Return the sentence with the roles of its tokens instead of those of its words."""
        return sentence._replace(roles=self.vocabulary.roles(sentence))

    def draw_made_up_facts(self) -> MadeUpFacts:
        """Return the facts of made-up words in both versions."""
        return draw_made_up_facts(self.world, self.data, self.names.taught, self.seed)


@contextlib.contextmanager
def open_setting(
    data: Data,
    seed: int,
    tokenizer: Sequence[str] = (),
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> Iterator[Setting]:
    """Yield the setting of a job, with the job's device as torch's default and autocast to its precision.

    Weights, their optimizer and sums stay float32.

    Args:
        data: Who and what facts are about.
        seed: Seed of all draws.
        tokenizer: Files of a tokenizer, tokenizer.json first; default: the embedded model's vocabulary.
        device: Device of the model.
        precision: Precision of matrix products.
    """
    usable = resolve_device(device)
    dtype = resolve_dtype(usable, precision)
    with contextlib.ExitStack() as stack:
        if usable.type != "cpu":
            stack.enter_context(usable)
        if dtype != torch.float32:
            # Weights change during the job, so casts must not be cached.
            stack.enter_context(torch.autocast(usable.type, dtype, cache_enabled=False))
        yield Setting(data, seed, Path(tokenizer[0]).parent if tokenizer else None)


def write_weights(path: str | Path, weights: dict[str, Tensor]) -> None:
    """Write a safetensors file atomically.

    Args:
        path: Path of the file.
        weights: Weights by name, on any device.
    """
    with replace_atomically(Path(path)) as temporary:
        save_file({name: value.cpu() for name, value in weights.items()}, temporary)
