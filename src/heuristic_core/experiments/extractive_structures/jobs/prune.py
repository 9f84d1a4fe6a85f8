"""The components that answers need, by pruning."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Input, Output
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.extractive_structures.config import Data, Pruning, Scores
from heuristic_core.experiments.extractive_structures.pruning import run_full_model, subnetwork_rows
from heuristic_core.experiments.extractive_structures.scores import compute_scores, contrast
from heuristic_core.experiments.extractive_structures.setting import open_setting
from heuristic_core.experiments.extractive_structures.sharing import transfer_rows
from heuristic_core.tables.parquet import write_table


def find_subnetworks(
    checkpoint: Input,
    first: Input,
    second: Input,
    data: Data,
    scores: Scores,
    pruning: Pruning,
    study: str,
    seed: int,
    subnetworks: Output,
    transfer: Output,
    tokenizer: list[Input] = (),
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Find the components that answers need, by hop and part of the questions, and compare scores across relations.

    Args:
        checkpoint: Weights after pre-training (safetensors).
        first: Weights after the facts of the first hop.
        second: Weights after the facts of the second hop.
        data: Who and what facts are about.
        scores: Settings of scores.
        pruning: Settings of pruning.
        study: Name of the study.
        seed: Of the world, of first weights and of the order.
        subnetworks: Where to write table extractive_subnetworks.
        transfer: Where to write table extractive_transfer.
        tokenizer: Files of the tokenizer of a model that is not made here, tokenizer.json first.
        device: Where the model runs.
        precision: Of products of matrices.
    """
    with open_setting(data, seed, tokenizer, device, precision) as setting:
        old, labels = load_file(checkpoint, device), {"study": study, "seed": seed}
        rows, relation_scores = [], {}
        for hop, path in {"first": first, "second": second}.items():
            new, taught = load_file(path, device), setting.encode_hop(hop)
            for part, queries in taught.parts.items():
                part_rows = subnetwork_rows(run_full_model(new, queries), pruning, f"{hop} {part}", seed)
                rows += [labels | {"hop": hop, "part": part} | row for row in part_rows]
            relations = setting.encode_relations() if hop == "first" else {"second hop": taught.parts["implications"]}
            for relation, queries in relations.items():
                comparison = contrast(old, new, queries, scores.counterfactuals, seed)
                by_kind = compute_scores(comparison, scores.path_steps)
                relation_scores[relation] = {kind: values.cpu() for kind, values in by_kind.items()}
    write_table("extractive_subnetworks", rows, subnetworks)
    write_table("extractive_transfer", [labels | row for row in transfer_rows(relation_scores)], transfer)
