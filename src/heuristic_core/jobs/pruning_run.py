"""Pruning runs of one checkpoint from files to subnetworks, as several scripts do them; cut off, they resume."""

import logging
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file

from heuristic_core.common.hashing import file_digest
from heuristic_core.config.pruning import Prune
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.jobs.scratch import scratch
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.implementation import load_model
from heuristic_core.pruning.discretise import discretise
from heuristic_core.pruning.inputs import pruning_inputs
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.loop import Pruned
from heuristic_core.pruning.prune import prune
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import write_table
from heuristic_core.tasks.encoded import Encoded

LOGGER = logging.getLogger(__name__)


def reads_pruned(parser: Arguments) -> None:
    """Declare what a `Pruner` reads."""
    parser.settings("prune", Prune)
    parser.identity("ft_seed", "step", "sparsity")
    parser.reads(
        checkpoint="folder of the fine-tuned model",
        means="component means",
        logits="the full model's logits on the training pairs",
        train="encoded training pairs",
    )


class Pruner:
    """Finds subnetworks of one checkpoint at one sparsity, its `cell`, in a model of components `grid`."""

    def __init__(self, args: Namespace):
        """args: what :func:`reads_pruned` declared, and the device."""
        self._settings, self._args = args.prune, args
        model = load_model(args.checkpoint, args.device, args.prune.precision)
        means, logits = ComponentMeans.load(args.means), load_file(args.logits)["logits"]
        train = Encoded.load(args.train)
        self._inputs, self._held_out = pruning_inputs(model, means, train, logits, args.prune)
        self.grid, self.cell = model.grid, identity(args)

    def unfinished(self, beside: str | Path, runs: object, code: str) -> Path:
        """A folder for the state of unfinished `runs`, beside the file to be written; kept only for the same work.

        runs: what the runs depend on beside `args`. code: the digest of their code.
        """
        args, on = self._args, f"{self._args.device} {self._inputs.model.dtype}"
        made_from = [self._settings.model_dump_json(), str(self.cell), str(runs), on, torch.__version__, code]
        made_from += [file_digest(path) for path in (args.means, args.logits, args.train)]
        return scratch(Path(beside).with_name(".unfinished"), "\n".join(made_from))

    def prune(self, runs: Sequence[PruningRun], state: Path) -> list[Pruned]:
        """What each of `runs` learns; they share every pass. state: file from which they resume."""
        return prune(self._inputs, runs, self._settings, state)

    def subnetwork(self, found: Pruned, run: Identity) -> Subnetwork | FailedRun:
        """The subnetwork that a run has found, or why there is none."""
        if found.failed:
            LOGGER.warning("failed run: seed %d %s", run.seed, found.failed)
            return FailedRun(run, found.failed)
        closed = found.run.closed
        kept = discretise(found.log_alpha, self.grid, run.sparsity, self._settings, self._held_out, closed)
        alphas, shape = tuple(found.log_alpha.tolist()), (self.grid.layers, self.grid.heads)
        return Subnetwork(run, *shape, tuple(kept.components), alphas, kept.threshold, kept.rule, closed)

    def save(self, found: Pruned, run: Identity, subnetwork: str | Path, trace: str | Path) -> None:
        """Write a run's subnetwork (JSON) and its table "prune_trace"."""
        write_table("prune_trace", [{**run._asdict(), **row} for row in found.trace], trace)
        self.subnetwork(found, run).save(subnetwork)
