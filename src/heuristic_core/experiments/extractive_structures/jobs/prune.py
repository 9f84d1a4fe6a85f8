"""The components that answers need, by pruning."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.extractive_structures.config import Pruning, Scores
from heuristic_core.experiments.extractive_structures.counterfactuals import contrast
from heuristic_core.experiments.extractive_structures.jobs.seed_model import SeedModel
from heuristic_core.experiments.extractive_structures.pruning import run_full_model, subnetwork_rows
from heuristic_core.experiments.extractive_structures.scores import compute_scores
from heuristic_core.experiments.extractive_structures.sharing import transfer_rows
from heuristic_core.tables.parquet import write_table


def find_subnetworks(
    model: SeedModel,
    first: Input,
    second: Input,
    scores: Scores,
    pruning: Pruning,
    subnetworks: Output,
    transfer: Output,
) -> None:
    """Find the components that answers need, by hop and part of the questions, and compare scores across relations.

    Args:
        model: The pre-trained model.
        first: Weights after the facts of the first hop.
        second: Weights after the facts of the second hop.
        scores: Settings of scores.
        pruning: Settings of pruning.
        subnetworks: Where to write table extractive_subnetworks.
        transfer: Where to write table extractive_transfer.
    """
    with model.open_setting() as setting:
        old, labels = load_file(model.checkpoint, model.device), model.labels
        rows, relation_scores = [], {}
        for hop, path in {"first": first, "second": second}.items():
            new, taught = load_file(path, model.device), setting.encode_hop(hop)
            for part, queries in taught.parts.items():
                part_rows = subnetwork_rows(run_full_model(new, queries), pruning, f"{hop} {part}", model.seed)
                rows += [labels | {"hop": hop, "part": part} | row for row in part_rows]
            relations = setting.encode_relations() if hop == "first" else {"second hop": taught.parts["implications"]}
            for relation, queries in relations.items():
                comparison = contrast(old, new, queries, scores.counterfactuals, model.seed)
                by_kind = compute_scores(comparison, scores.path_steps)
                relation_scores[relation] = {kind: values.cpu() for kind, values in by_kind.items()}
    write_table("extractive_subnetworks", rows, subnetworks)
    write_table("extractive_transfer", [labels | row for row in transfer_rows(relation_scores)], transfer)
