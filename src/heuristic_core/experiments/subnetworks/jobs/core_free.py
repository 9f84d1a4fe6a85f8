"""Subnetworks without the core, compared with subnetworks without random heads."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from heuristic_core.common.roles import Fields, Input, Output, require_same_length
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.subnetworks.analysis import core_free as core_free_analysis
from heuristic_core.experiments.subnetworks.analysis.closed_sets import draw_control_sets, list_core_heads
from heuristic_core.experiments.subnetworks.analysis.levels import compute_id_accuracy
from heuristic_core.experiments.subnetworks.analysis.runs import compute_chance, compute_runs
from heuristic_core.experiments.subnetworks.analysis.scores import compute_accuracies
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism
from heuristic_core.experiments.subnetworks.jobs.evaluator import Evaluator
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork, load_run
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table, write_table


def evaluate_core_free_subnetworks(
    core: Input,
    subnetworks: list[Input],
    trace_parts: list[Input],
    mid: list[Input],
    components: Input,
    checkpoint: Input,
    means: Input,
    evaluation: Input,
    mechanism: Mechanism,
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed", "step", "sparsity")],
    core_free_runs: Output,
    core_free: Output,
    controller: Literal["sampled", "expected"] = "sampled",
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Evaluate subnetworks without the core, and without random sets of heads in its place: what the core is worth.

    Args:
        core: The run's core (Parquet).
        subnetworks: Subnetworks with the core or a random set closed, one for each of the mechanism's runs (JSON).
        trace_parts: The trace of each one's pruning (Parquet).
        mid: Predictions of subnetworks of the same sparsity with no head closed (Parquet).
        components: Components of the sound subnetworks (Parquet).
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        evaluation: Encoded evaluation pairs (safetensors).
        mechanism: Settings of analyses that depend on the core.
        analysis: Settings of the analysis.
        run: Identity of the checkpoint, and the sparsity.
        core_free_runs: Where to write the outcome of each run (Parquet).
        core_free: Where to write the differences (Parquet).
        controller: Setting `prune.controller`.
        device: Device of the model.
        precision: Precision of the model.
    """
    require_same_length(runs=mechanism.core_free.runs, subnetworks=subnetworks, trace_parts=trace_parts)
    evaluator = Evaluator(checkpoint, means, evaluation, analysis, device, precision)
    grid, heads = evaluator.model.grid, list_core_heads(read_table(core))
    sets = [heads, *draw_control_sets(heads, grid, mechanism.core_free.control_sets, analysis.seed)]
    design = _design(mechanism, sets)
    results = [load_run(path) for path in subnetworks]
    results = [replace(result, identity=result.identity._replace(seed=k)) for k, result in enumerate(results)]
    traces = pd.concat([read_table(path).assign(seed=k) for k, path in enumerate(trace_parts)])
    frames = [pd.DataFrame(evaluator.predict_edited(None)).assign(**run._replace(sparsity=0.0)._asdict())]
    frames += [
        pd.DataFrame(evaluator.predict_without(result.list_removed(grid))).assign(**result.identity._asdict())
        for result in results
        if isinstance(result, Subnetwork)
    ]
    rows = pd.concat(frames, ignore_index=True).astype({"seed": "Int32"})
    failed = [result for result in results if isinstance(result, FailedRun)]
    settings = analysis.subsets, analysis.class_rule, analysis.bootstrap, analysis.seed
    accuracy, groups, families = compute_accuracies(rows, np.stack(rows["logits"]), *settings, failed)
    outcomes = compute_runs(results, traces, groups, compute_chance(rows, analysis.subsets), controller)
    mid_accuracy = _mid_accuracy(mid, read_table(components), analysis)
    by_run = core_free_analysis.compute_core_free_runs(design, outcomes, groups, mid_accuracy, analysis.margin)
    write_table("core_free_runs", by_run, core_free_runs)
    values = core_free_analysis.collect_values(accuracy, groups, families, design, analysis.subsets)
    write_table("core_free", core_free_analysis.compute_core_free(by_run, values), core_free)


def _design(mechanism: Mechanism, sets: Sequence[Sequence[int]]) -> pd.DataFrame:
    """Return the closed heads of each run; column "number" identifies it, as runs of several sets share a seed."""
    closed = {number: heads for number, heads in enumerate(sets) if heads}
    return pd.DataFrame(
        {
            "number": number,
            "role": core_free_analysis.CONTROL if pruning.set else core_free_analysis.CORE_FREE,
            "closed": closed.get(pruning.set),
        }
        | pruning._asdict()
        for number, pruning in enumerate(mechanism.core_free.runs)
    )


def _mid_accuracy(paths: Sequence[str], components: pd.DataFrame, analysis: Analysis) -> float | None:
    """Return the mean ID accuracy of sound subnetworks with no head closed, percent; None without any."""
    sound = set(components["seed"])
    predictions = [read_table(path, without=["logits"]) for path in paths]
    values = [
        compute_id_accuracy(rows, analysis.class_rule, analysis.subsets)
        for rows in predictions
        if sound.issuperset(rows["seed"]) and len(rows)
    ]
    return float(np.mean(values)) if values else None
