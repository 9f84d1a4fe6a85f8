"""Subnetworks between two learned ones."""

from typing import Annotated

from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.experiments.subnetworks.analysis.interpolation import compute_interpolation
from heuristic_core.experiments.subnetworks.analysis.random_masks import list_learned_masks
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism
from heuristic_core.experiments.subnetworks.jobs.evaluated_model import EvaluatedModel
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table, write_table


def interpolate_subnetworks(
    components: Input,
    model: EvaluatedModel,
    mechanism: Mechanism,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    table: Output,
) -> None:
    """Evaluate subnetworks between the mid-sparsity subnetwork that generalises least and the one that does most.

    Args:
        components: Components of the sound mid-sparsity subnetworks (Parquet).
        model: The fine-tuned model and its evaluation pairs.
        mechanism: Settings of analyses that depend on the core.
        run: Identity of the checkpoint.
        table: Where to write the scores of subnetworks (Parquet).
    """
    analysis = model.analysis
    pairs = mechanism.interpolation.pairs
    evaluator = model.load(pairs)
    grid = evaluator.model.grid
    identity = {name: values[0] for name, values in run.as_columns(1, "step").items()}

    def predict(kept):
        return evaluator.predict_without(set(range(len(grid))) - kept)

    rows = compute_interpolation(list_learned_masks(read_table(components)), predict, grid, analysis, identity)
    write_table("interpolation", rows, table)
