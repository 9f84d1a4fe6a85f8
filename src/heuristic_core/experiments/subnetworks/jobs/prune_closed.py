"""Subnetworks that do without the heuristic core."""

from typing import Annotated

from heuristic_core.common.roles import Fields, Input, Output, Unfinished, require_same_length
from heuristic_core.config.blocks import Device
from heuristic_core.config.pruning import Prune
from heuristic_core.experiments.subnetworks.analysis.closed_sets import (
    draw_control_sets,
    explain_missing_set,
    list_core_heads,
)
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.loop import PruningResult
from heuristic_core.pruning.pruner import Pruner
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table


def find_core_free_subnetworks(
    checkpoint: Input,
    means: Input,
    logits: Input,
    train: Input,
    core: Input,
    prune: Prune,
    run: Annotated[Identity, Fields("ft_seed", "step", "sparsity")],
    sets: list[int],
    seeds: list[int],
    control_sets: int,
    draw_seed: int,
    subnetworks: list[Output],
    traces: list[Output],
    unfinished: Unfinished,
    device: Device = "cpu",
) -> None:
    """Find subnetworks of a checkpoint with heads closed: the core, or a random set of the same layers.

    The runs share every pass. A run of a set that does not exist, as of an empty core, is written as a failed one.

    Args:
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        logits: The full model's logits on the training pairs (safetensors).
        train: Encoded training pairs (safetensors).
        core: The run's core (Parquet).
        prune: Settings of pruning.
        run: Identity of the checkpoint, and the sparsity.
        sets: What each run closes: 0 for the core, k for random set k.
        seeds: Pruning seed of each run.
        control_sets: Number of random sets to draw.
        draw_seed: Seed of the random sets.
        subnetworks: Where to write each run's subnetwork (JSON).
        traces: Where to write the trace of each run's pruning (Parquet).
        unfinished: Folder of the state from which the job resumes.
        device: Device of the model.
    """
    require_same_length(seeds=seeds, sets=sets, subnetworks=subnetworks, traces=traces)
    pruner = Pruner(checkpoint, means, logits, train, prune, device)
    heads = list_core_heads(read_table(core))
    others = draw_control_sets(heads, pruner.grid, control_sets, draw_seed)
    closed = [dict(enumerate([heads, *others])).get(number) or () for number in sets]
    runs = [PruningRun(run.sparsity, *seed_and_set) for seed_and_set in zip(seeds, closed, strict=True)]
    existing = [pruning_run for pruning_run in runs if pruning_run.closed]
    learned = iter(pruner.prune(existing, unfinished / "state.safetensors") if existing else [])
    for pruning_run, number, subnetwork, trace in zip(runs, sets, subnetworks, traces, strict=True):
        absent = explain_missing_set(heads, number, len(others))
        pruned = next(learned) if pruning_run.closed else PruningResult(pruning_run, None, [], absent)
        pruner.save(pruned, run._replace(seed=pruning_run.seed), subnetwork, trace)
