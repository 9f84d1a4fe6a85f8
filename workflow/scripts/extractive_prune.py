"""Find the components that answers need, by hop and part of the questions, and compare scores across relations."""

from safetensors.torch import load_file

from heuristic_core.experiments.extractive_structures.config import Pruning, Scores
from heuristic_core.experiments.extractive_structures.pruning import subnetwork_rows, whole
from heuristic_core.experiments.extractive_structures.scores import contrast, scores
from heuristic_core.experiments.extractive_structures.setting import HOPS, begun, of_seed
from heuristic_core.experiments.extractive_structures.sharing import transfer_rows
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = of_seed(__doc__)
    parser.settings("scores", Scores)
    parser.settings("pruning", Pruning)
    parser.reads(checkpoint="weights after pre-training")
    parser.reads(**{hop: f"weights after the facts of the {hop} hop" for hop in HOPS})
    parser.writes(subnetworks="where to write extractive_subnetworks", transfer="where to write extractive_transfer")
    args = parser.read(arguments)
    with begun(args) as setting:
        old = load_file(args.checkpoint, args.device)
        labels, rows, relation_scores = {"study": args.study, "seed": args.seed}, [], {}
        for hop in HOPS:
            new, taught = load_file(getattr(args, hop), args.device), setting.taught(hop)
            for part, queries in taught.parts.items():
                part_labels = labels | {"hop": hop, "part": part}
                part_rows = subnetwork_rows(whole(new, queries), args.pruning, f"{hop} {part}", args.seed)
                rows += [part_labels | row for row in part_rows]
            relations = setting.related() if hop == "first" else {"second hop": taught.parts["implications"]}
            for relation, queries in relations.items():
                comparison = contrast(old, new, queries, args.scores.counterfactuals, args.seed)
                by_kind = scores(comparison, args.scores.path_steps)
                relation_scores[relation] = {kind: values.cpu() for kind, values in by_kind.items()}
    write_table("extractive_subnetworks", rows, args.subnetworks)
    write_table("extractive_transfer", [labels | row for row in transfer_rows(relation_scores)], args.transfer)


if __name__ == "__main__":
    recorded(main)
