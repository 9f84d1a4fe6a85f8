"""Which components answers need, by hop and part of the questions, and whether scores agree across relations."""

from safetensors.torch import load_file

from heuristic_core.experiments.extractive_structures.config import Pruning, Scores
from heuristic_core.experiments.extractive_structures.pruning import subnetwork_rows, whole
from heuristic_core.experiments.extractive_structures.scores import contrast, scores
from heuristic_core.experiments.extractive_structures.setting import HOPS, begun, of_seed
from heuristic_core.experiments.extractive_structures.sharing import transfer_rows
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = of_seed(__doc__)
    parser.settings("scores", Scores)
    parser.settings("pruning", Pruning)
    parser.reads(checkpoint="weights after pre-training")
    parser.reads(**{hop: f"weights after the facts of the {hop} hop" for hop in HOPS})
    parser.writes(subnetworks="where to write extractive_subnetworks", transfer="where to write extractive_transfer")
    args = parser.read(arguments)
    with begun(args) as setting:
        old = load_file(args.checkpoint, args.device)
        named, rows, found = {"study": args.study, "seed": args.seed}, [], {}
        for hop in HOPS:
            new, taught = load_file(getattr(args, hop), args.device), setting.taught(hop)
            for part, asked in taught.parts.items():
                about = named | {"hop": hop, "part": part}
                found_of = subnetwork_rows(whole(new, asked), args.pruning, f"{hop} {part}", args.seed)
                rows += [about | row for row in found_of]
            relations = setting.related() if hop == "first" else {"second hop": taught.parts["implications"]}
            for relation, asked in relations.items():
                of = contrast(old, new, asked, args.scores.counterfactuals, args.seed)
                found[relation] = {kind: value.cpu() for kind, value in scores(of, args.scores.path_steps).items()}
    write_table("extractive_subnetworks", rows, args.subnetworks)
    write_table("extractive_transfer", [named | row for row in transfer_rows(found)], args.transfer)


if __name__ == "__main__":
    recorded(main)
