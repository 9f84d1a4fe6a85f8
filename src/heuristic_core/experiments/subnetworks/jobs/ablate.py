"""Ablation of heads from the full model."""

from collections.abc import Iterator
from typing import Annotated

import pyarrow as pa
import pyarrow.parquet as pq

from heuristic_core.common.atomic import replace_atomically
from heuristic_core.common.progress import Progress
from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.subnetworks.analysis.ablation_sets import (
    assign_draws,
    compute_ablation_sets,
    list_ablations,
    make_joint_sets,
    make_single_sets,
    parse_ablation_sets,
)
from heuristic_core.experiments.subnetworks.analysis.ablations import compute_single_ood_drops
from heuristic_core.experiments.subnetworks.analysis.completeness_sets import make_completeness_sets
from heuristic_core.experiments.subnetworks.analysis.triples import choose_triples, mark_choosing_half
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.jobs.replacements import Replacements
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.implementation import load_model
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_table, read_table, to_categorical_frame, write_table
from heuristic_core.tables.schemas import get_schema

TABLE = "ablation_predictions"


def ablate_heads(
    core: Input,
    checkpoint: Input,
    means: Input,
    train: Input,
    evaluation: Input,
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    predictions: Output,
    sets: Output,
    minimal: Input | None = None,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Ablate heads from the full model: every head alone, sets of core heads, chosen sets, and matched random controls.

    Args:
        core: The run's core (Parquet).
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        train: Encoded training pairs, from which activations are resampled (safetensors).
        evaluation: Encoded evaluation pairs (safetensors).
        analysis: Settings of the analysis.
        run: Identity of the checkpoint.
        predictions: Where to write predictions (Parquet).
        sets: Where to write the ablated sets (Parquet).
        minimal: Minimal pairs of the evaluation pairs, from which counterfactual ablation takes activations.
        device: Device of the model.
        precision: Precision of the model.
    """
    model = load_model(checkpoint, device, precision)
    component_means = ComponentMeans.load(means).to(model)
    replacements = Replacements(model, component_means, evaluation, train, minimal, analysis)
    kinds, core_rows = replacements.kinds, read_table(core)
    heads, stable = (core_rows.loc[core_rows[name], "component"].tolist() for name in ("in_core", "in_stable_core"))
    chosen = parse_ablation_sets(analysis.ablation_sets, model.grid)

    # Thousands of pairs times hundreds of sets: written as they come.
    with (
        replace_atomically(predictions) as partial,
        pq.ParquetWriter(partial, get_schema(TABLE), compression="zstd") as file,
    ):

        def write(name, ablations) -> Iterator[pa.Table]:
            ablations = list(assign_draws(ablations, analysis.resample_draws))
            progress = Progress(name, len(ablations))
            for done, (kind, ablation, draw) in enumerate(ablations, start=1):
                columns = replacements.predictions(kind, ablation.heads, draw)
                count, names = len(columns["example"]), {"kind": kind, "ablation": ablation.name, "draw": draw}
                columns |= run.as_columns(count, "step") | {name: [value] * count for name, value in names.items()}
                file.write_table(table := as_table(TABLE, columns))
                yield table.select(["ablation", "draw", "subset", "group", "template", "correct"])
                progress.update(done, sets=done)

        first, singles = kinds[:1], make_single_sets(heads, model.grid, chosen)
        alone = to_categorical_frame(write("ablate single heads", list_ablations(singles, first)))
        drops, on_half = (
            compute_single_ood_drops(rows, compute_ablation_sets(singles, first, run), analysis.subsets)
            for rows in (alone, alone[mark_choosing_half(alone)])
        )
        draws = analysis.control_draws, analysis.pair_control_draws
        joint = make_joint_sets(heads, drops, model.grid, *draws, analysis.seed, chosen)
        triples = choose_triples(heads, on_half, model.grid, analysis.control_draws, analysis.seed)
        completeness = make_completeness_sets(heads, stable, model.grid, analysis.control_draws, analysis.seed)
        every_set = [*singles, *joint, *triples, *completeness]
        for _ in write("ablate sets", list_ablations(every_set, kinds)[len(singles) :]):
            pass
    write_table("ablation_sets", compute_ablation_sets(every_set, kinds, run), sets)
