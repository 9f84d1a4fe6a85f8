"""Compute extractive scores, and compare them with the effects of replacing and removing components."""

from safetensors.torch import load_file

from heuristic_core.experiments.extractive_structures.config import FEW, Scores
from heuristic_core.experiments.extractive_structures.patching import patched
from heuristic_core.experiments.extractive_structures.removal import (
    agreement_rows,
    component_rows,
    removal_rows,
    score_rows,
)
from heuristic_core.experiments.extractive_structures.results import SCORED
from heuristic_core.experiments.extractive_structures.scores import contrast, scores
from heuristic_core.experiments.extractive_structures.setting import HOPS, begun, of_seed
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = of_seed(__doc__)
    parser.settings("scores", Scores)
    parser.reads(checkpoint="weights after pre-training")
    parser.reads(**{hop: f"weights after the facts of the {hop} hop" for hop in HOPS})
    parser.writes(**{f"{name}_table": f"where to write table extractive_{name}" for name in SCORED})
    args = parser.read(arguments)
    with begun(args) as setting:
        old = load_file(args.checkpoint, args.device)
        tables: dict[str, list[dict]] = {name: [] for name in SCORED}
        for hop in HOPS:
            taught = setting.taught(hop)
            new, queries = load_file(getattr(args, hop), args.device), taught.parts["implications"]
            comparison = contrast(old, new, queries, args.scores.counterfactuals, args.seed)
            by_kind = scores(comparison, args.scores.path_steps)
            components = component_rows(comparison, by_kind)
            full = patched(comparison) if len(components) <= FEW else None
            rows = {
                "scores": score_rows(by_kind, taught.hop.implications.sentences),
                "components": components,
                "agreement": agreement_rows(by_kind, full),
                "removal": removal_rows(components),
            }
            for name in SCORED:
                tables[name] += [{"study": args.study, "seed": args.seed, "hop": hop} | row for row in rows[name]]
        for name, table_rows in tables.items():
            write_table(f"extractive_{name}", table_rows, getattr(args, f"{name}_table"))


if __name__ == "__main__":
    recorded(main)
