"""Extractive scores of components, and effects of replacing and removing them."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.extractive_structures.config import MAX_EXHAUSTIVE_COMPONENTS, Scores
from heuristic_core.experiments.extractive_structures.counterfactuals import contrast
from heuristic_core.experiments.extractive_structures.jobs.seed_model import SeedModel
from heuristic_core.experiments.extractive_structures.patching import measure_replacement
from heuristic_core.experiments.extractive_structures.removal import (
    agreement_rows,
    component_rows,
    removal_rows,
    score_rows,
)
from heuristic_core.experiments.extractive_structures.scores import compute_scores
from heuristic_core.tables.parquet import write_table


def score_components(
    model: SeedModel,
    first: Input,
    second: Input,
    scores: Scores,
    scores_table: Output,
    components_table: Output,
    agreement_table: Output,
    removal_table: Output,
) -> None:
    """Compute extractive scores, and compare them with the effects of replacing and removing components.

    Args:
        model: The pre-trained model.
        first: Weights after the facts of the first hop.
        second: Weights after the facts of the second hop.
        scores: Settings of scores.
        scores_table: Where to write table extractive_scores.
        components_table: Where to write table extractive_components.
        agreement_table: Where to write table extractive_agreement.
        removal_table: Where to write table extractive_removal.
    """
    paths = {
        "extractive_scores": scores_table,
        "extractive_components": components_table,
        "extractive_agreement": agreement_table,
        "extractive_removal": removal_table,
    }
    tables: dict[str, list[dict]] = {table: [] for table in paths}
    with model.open_setting() as setting:
        old = load_file(model.checkpoint, model.device)
        for hop, path in {"first": first, "second": second}.items():
            new, taught = load_file(path, model.device), setting.encode_hop(hop)
            comparison = contrast(old, new, taught.parts["implications"], scores.counterfactuals, model.seed)
            by_kind = compute_scores(comparison, scores.path_steps)
            components = component_rows(comparison, by_kind)
            full = measure_replacement(comparison) if len(components) <= MAX_EXHAUSTIVE_COMPONENTS else None
            hop_rows = {
                "extractive_scores": score_rows(by_kind, taught.hop.implications.sentences),
                "extractive_components": components,
                "extractive_agreement": agreement_rows(by_kind, full),
                "extractive_removal": removal_rows(components),
            }
            for table, rows in hop_rows.items():
                tables[table] += [model.labels | {"hop": hop} | row for row in rows]
    for table, path in paths.items():
        write_table(table, tables[table], path)
