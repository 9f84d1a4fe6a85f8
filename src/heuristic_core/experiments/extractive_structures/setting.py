"""What the jobs of one seed begin with: the seed's world, as sentences and as tokens."""

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

MAKERS = {"first": first_hop, "second": second_hop}
HOPS = tuple(MAKERS)


class Taught(NamedTuple):
    """A hop as a model meets it. parts: the questions on its facts, and on what they imply. Roles are of tokens."""

    hop: Hop
    facts: Examples
    parts: dict[str, Asked]


class Setting:
    """The world of a seed, and the vocabulary: the embedded model's, or a tokenizer's, in a folder."""

    def __init__(self, data: Data, seed: int, tokenizer: Path | None = None):
        self.data, self.seed, self.world = data, seed, world()
        self.vocabulary = Vocabulary(self.world) if tokenizer is None else HubTokenizer(tokenizer)
        self.names = names(self.world, data, seed)

    def corpus(self, kind: str) -> Examples:
        """What a model is pre-trained on."""
        return examples(corpus(self.world, self.data, kind, self.names.people, self.seed), self.vocabulary)

    def taught(self, name: str) -> Taught:
        """The first or the second hop."""
        hop = MAKERS[name](self.world, self.data, self.names.taught, self.seed)
        hop = Hop(*(Questions([self._of_tokens(one) for one in part.sentences], part.options) for part in hop))
        parts = {"facts": asked(hop.facts, self.vocabulary), "implications": asked(hop.implications, self.vocabulary)}
        return Taught(hop, examples(hop.facts.sentences, self.vocabulary), parts)

    def related(self) -> dict[str, Asked]:
        """By relation of the world, what facts of the first hop imply."""
        found = {}
        for relation in self.world.relations:
            questions = implied_by_homes(self.world, self.data, self.names.taught, self.seed, relation)
            found[relation] = asked(questions, self.vocabulary)
        return found

    def _of_tokens(self, one: Sentence) -> Sentence:
        return one._replace(roles=self.vocabulary.roles(one))

    def made_up(self) -> MadeUp:
        """The facts of made-up words, in both versions."""
        return made_up(self.world, self.data, self.names.taught, self.seed)


def of_seed(description: str) -> Arguments:
    """The arguments that all jobs of a seed have."""
    parser = Arguments(description)
    parser.settings("data", Data)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument("--seed", type=int, required=True, help="of the world, of first weights and of the order")
    parser.device()
    parser.reads("*", tokenizer="files of the tokenizer of a model that is not made here, tokenizer.json first")
    return parser


@contextlib.contextmanager
def begun(args: Namespace) -> Iterator[Setting]:
    """The setting of a job with the arguments of :func:`of_seed`; tensors are on its device, and products of matrices
    are in its precision. Weights, their optimizer and sums stay float32."""
    use_threads(1)
    device = usable_device(args.device)
    dtype = dtype_on(device, args.precision)
    with contextlib.ExitStack() as held:
        if device.type != "cpu":
            held.enter_context(device)
        if dtype != torch.float32:
            # Weights change during the job: none may be kept as it was cast before.
            held.enter_context(torch.autocast(device.type, dtype, cache_enabled=False))
        yield Setting(args.data, args.seed, Path(args.tokenizer[0]).parent if args.tokenizer else None)


def unfinished(args: Namespace, beside: str, script: str) -> Path | None:
    """The folder of a job's saved states, beside its result of that path; None where the study saves none."""
    if args.finetuning.save_every is None:
        return None
    about = [
        args.data.model_dump_json(),
        args.finetuning.model_dump_json(),
        str(args.seed),
        args.device,
        precision_on(usable_device(args.device), args.precision),
    ]
    fingerprint = "\n".join([*about, file_digest(args.checkpoint), code_digest(script), torch.__version__])
    return scratch(Path(beside).with_name(f".unfinished-{Path(beside).stem}"), fingerprint)


def write_weights(path: str | Path, weights: dict[str, Tensor]) -> None:
    """A safetensors file, which is whole or is not there."""
    with replacing(Path(path)) as partial:
        save_file({name: value.cpu() for name, value in weights.items()}, partial)
