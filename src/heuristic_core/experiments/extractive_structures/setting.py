"""What the jobs of one seed share: the seed's world as sentences and tokens, arguments, device and saved states."""

import contextlib
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import save_file
from torch import Tensor

from heuristic_core.common.atomic import replacing
from heuristic_core.common.hashing import file_digest
from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.extractive_structures.config import Data
from heuristic_core.experiments.extractive_structures.data import (
    Hop,
    MadeUp,
    Questions,
    Sentence,
    corpus,
    first_hop,
    implied_by_homes,
    made_up,
    names,
    second_hop,
)
from heuristic_core.experiments.extractive_structures.tokens import (
    Asked,
    Examples,
    HubTokenizer,
    Vocabulary,
    asked,
    examples,
)
from heuristic_core.experiments.extractive_structures.world import world
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.jobs.scratch import scratch
from heuristic_core.models.device import dtype_on, precision_on, usable_device
from heuristic_core.provenance.digests import code_digest

HOP_FUNCTIONS = {"first": first_hop, "second": second_hop}
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
    parts: dict[str, Asked]


class Setting:
    """The world of a seed, and how it is encoded.

    Args:
        data: Who and what facts are about.
        seed: Of all draws.
        tokenizer: Folder of a tokenizer; default: the embedded model's vocabulary.

    Attributes:
        world: Cities, relations and sentences.
        vocabulary: Encodes words as tokens.
        names: The seed's names of people.
    """

    def __init__(self, data: Data, seed: int, tokenizer: Path | None = None):
        self.data, self.seed, self.world = data, seed, world()
        self.vocabulary = Vocabulary(self.world) if tokenizer is None else HubTokenizer(tokenizer)
        self.names = names(self.world, data, seed)

    def corpus(self, kind: str) -> Examples:
        """Return the encoded corpus of pre-training of a kind, see :func:`.data.corpus`."""
        return examples(corpus(self.world, self.data, kind, self.names.people, self.seed), self.vocabulary)

    def taught(self, name: str) -> EncodedHop:
        """Return the encoded hop `name`, "first" or "second"."""
        hop = HOP_FUNCTIONS[name](self.world, self.data, self.names.taught, self.seed)
        hop = Hop(
            *(Questions([self._use_token_roles(sentence) for sentence in part.sentences], part.options) for part in hop)
        )
        parts = {"facts": asked(hop.facts, self.vocabulary), "implications": asked(hop.implications, self.vocabulary)}
        return EncodedHop(hop, examples(hop.facts.sentences, self.vocabulary), parts)

    def related(self) -> dict[str, Asked]:
        """Return the questions on what facts of the first hop imply, by relation of the world."""
        queries = {}
        for relation in self.world.relations:
            questions = implied_by_homes(self.world, self.data, self.names.taught, self.seed, relation)
            queries[relation] = asked(questions, self.vocabulary)
        return queries

    def _use_token_roles(self, sentence: Sentence) -> Sentence:
        """Return the sentence with the roles of its tokens instead of those of its words."""
        return sentence._replace(roles=self.vocabulary.roles(sentence))

    def made_up(self) -> MadeUp:
        """Return the facts of made-up words in both versions."""
        return made_up(self.world, self.data, self.names.taught, self.seed)


def of_seed(description: str) -> Arguments:
    """Return a parser with the arguments that all jobs of a seed share."""
    parser = Arguments(description)
    parser.settings("data", Data)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument("--seed", type=int, required=True, help="of the world, of first weights and of the order")
    parser.device()
    parser.reads("*", tokenizer="files of the tokenizer of a model that is not made here, tokenizer.json first")
    return parser


@contextlib.contextmanager
def begun(args: Namespace) -> Iterator[Setting]:
    """Yield the setting of a job, with the job's device as torch's default and autocast to its precision.

    Weights, their optimizer and sums stay float32.

    Args:
        args: Arguments of :func:`of_seed`.
    """
    use_threads(1)
    device = usable_device(args.device)
    dtype = dtype_on(device, args.precision)
    with contextlib.ExitStack() as stack:
        if device.type != "cpu":
            stack.enter_context(device)
        if dtype != torch.float32:
            # Weights change during the job, so casts must not be cached.
            stack.enter_context(torch.autocast(device.type, dtype, cache_enabled=False))
        yield Setting(args.data, args.seed, Path(args.tokenizer[0]).parent if args.tokenizer else None)


def unfinished(args: Namespace, result: str, script: str) -> Path | None:
    """Return the folder of a job's saved states, or None if the study saves none.

    Args:
        args: Arguments of the job.
        result: Path of a result of the job; the folder is beside it.
        script: Path of the job's script.
    """
    if args.finetuning.save_every is None:
        return None
    inputs = [
        args.data.model_dump_json(),
        args.finetuning.model_dump_json(),
        str(args.seed),
        args.device,
        precision_on(usable_device(args.device), args.precision),
    ]
    fingerprint = "\n".join([*inputs, file_digest(args.checkpoint), code_digest(script), torch.__version__])
    return scratch(Path(result).with_name(f".unfinished-{Path(result).stem}"), fingerprint)


def write_weights(path: str | Path, weights: dict[str, Tensor]) -> None:
    """Write a safetensors file atomically."""
    with replacing(Path(path)) as temporary:
        save_file({name: value.cpu() for name, value in weights.items()}, temporary)
