"""Subnetworks of a checkpoint by pruning, from files to files."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from safetensors.torch import load_file

from heuristic_core.common.roles import Fields, Input, Output, Unfinished, require_same_length
from heuristic_core.config.blocks import Device
from heuristic_core.config.pruning import Prune
from heuristic_core.data.encoded import Encoded
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.implementation import load_model
from heuristic_core.pruning.discretise import discretise
from heuristic_core.pruning.inputs import make_pruning_inputs
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.loop import PruningResult
from heuristic_core.pruning.prune import prune as learn_gates
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import write_table

LOGGER = logging.getLogger(__name__)


class Pruner:
    """Finds subnetworks of one checkpoint.

    Attributes:
        grid: Components of the model.
    """

    def __init__(self, checkpoint: str, means: str, logits: str, train: str, settings: Prune, device: Device = "cpu"):
        """Load the model and what its pruning runs share.

        Args:
            checkpoint: Folder of the fine-tuned model.
            means: File of component means.
            logits: File of the full model's logits on the training pairs.
            train: File of encoded training pairs.
            settings: Settings of pruning.
            device: Device of the model.
        """
        self._settings = settings
        model = load_model(checkpoint, device, settings.precision)
        means, logits = ComponentMeans.load(means), load_file(logits)["logits"]
        self._inputs, self._held_out = make_pruning_inputs(model, means, Encoded.load(train), logits, settings)
        self.grid = model.grid

    def prune(self, runs: Sequence[PruningRun], state: Path) -> list[PruningResult]:
        """Prune; the runs share every pass.

        Args:
            runs: Pruning runs.
            state: File from which they resume.

        Returns:
            What each run learns.
        """
        return learn_gates(self._inputs, runs, self._settings, state)

    def make_subnetwork(self, result: PruningResult, run: Identity) -> Subnetwork | FailedRun:
        """Discretise what a run has learned into a subnetwork.

        Args:
            result: Outcome of the run; its `failure` makes a failed run, which keeps the reason.
            run: Identity of the run, with its sparsity and seed.
        """
        if result.failure:
            LOGGER.warning("failed run: seed %d %s", run.seed, result.failure)
            return FailedRun(run, result.failure)
        closed = result.run.closed
        kept = discretise(result.log_alpha, self.grid, run.sparsity, self._settings, self._held_out, closed)
        alphas, shape = tuple(result.log_alpha.tolist()), (self.grid.layers, self.grid.heads)
        return Subnetwork(run, *shape, tuple(kept.components), alphas, kept.threshold, kept.rule, closed)

    def save(self, result: PruningResult, run: Identity, subnetwork: str | Path, trace: str | Path) -> None:
        """Write what a run found.

        Args:
            result: What the run learned.
            run: Identity of the subnetwork.
            subnetwork: Where to write the subnetwork, or the reason of a failed run (JSON).
            trace: Where to write table "prune_trace" (Parquet).
        """
        write_table("prune_trace", [{**run._asdict(), **row} for row in result.trace], trace)
        self.make_subnetwork(result, run).save(subnetwork)


def find_subnetworks(
    checkpoint: Input,
    means: Input,
    logits: Input,
    train: Input,
    prune: Prune,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    sparsities: list[float],
    seeds: list[int],
    subnetworks: list[Output],
    traces: list[Output],
    unfinished: Unfinished,
    repeat: int = 0,
    device: Device = "cpu",
) -> None:
    """Find subnetworks of a checkpoint, one for each sparsity and pruning seed.

    The runs share every pass. A run that diverges is written as a failed one.

    Args:
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        logits: The full model's logits on the training pairs (safetensors).
        train: Encoded training pairs (safetensors).
        prune: Settings of pruning.
        run: Identity of the checkpoint.
        sparsities: Sparsity of each run.
        seeds: Pruning seed of each run.
        subnetworks: Where to write each run's subnetwork (JSON).
        traces: Where to write the trace of each run's pruning (Parquet).
        unfinished: Folder of the state from which the job resumes.
        repeat: Number of the repeated run; 0 for the first.
        device: Device of the model.
    """
    require_same_length(seeds=seeds, sparsities=sparsities, subnetworks=subnetworks, traces=traces)
    pruner = Pruner(checkpoint, means, logits, train, prune, device)
    runs = [PruningRun(*values) for values in zip(sparsities, seeds, strict=True)]
    learned = pruner.prune(runs, unfinished / "state.safetensors")
    for pruned, subnetwork, trace in zip(learned, subnetworks, traces, strict=True):
        identity = run._replace(sparsity=pruned.run.sparsity, seed=pruned.run.seed, repeat=repeat)
        pruner.save(pruned, identity, subnetwork, trace)
