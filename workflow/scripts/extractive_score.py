"""Extractive scores of every component, what replacing it does, and whether scores tell what an answer needs."""

from safetensors.torch import load_file

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.extractive_structures.config import Data, Scores
from heuristic_core.experiments.extractive_structures.localisation import (
    agreement_rows,
    component_rows,
    localisation_rows,
    score_rows,
)
from heuristic_core.experiments.extractive_structures.patching import patched
from heuristic_core.experiments.extractive_structures.results import SCORED
from heuristic_core.experiments.extractive_structures.scores import contrast, scores
from heuristic_core.experiments.extractive_structures.setting import HOPS, Setting
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("data", Data)
    parser.settings("scores", Scores)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument("--seed", type=int, required=True, help="of the world and of counterfactual prompts")
    parser.reads(checkpoint="weights after pre-training")
    parser.reads(**{hop: f"weights after the facts of the {hop} hop" for hop in HOPS})
    parser.writes(**{f"{name}_table": f"where to write table extractive_{name}" for name in SCORED})
    args = parser.read(arguments)
    use_threads(1)
    setting, old = Setting(args.data, args.seed), load_file(args.checkpoint)
    tables: dict[str, list[dict]] = {name: [] for name in SCORED}
    for hop in HOPS:
        taught = setting.taught(hop)
        of = contrast(
            old, load_file(getattr(args, hop)), taught.parts["implications"], args.scores.counterfactuals, args.seed
        )
        found = scores(of, args.scores.path_steps)
        components = component_rows(of, found)
        rows = {
            "scores": score_rows(found, taught.hop.implications.sentences),
            "components": components,
            "agreement": agreement_rows(found, patched(of)),
            "localisation": localisation_rows(components),
        }
        for name in SCORED:
            tables[name] += [{"study": args.study, "seed": args.seed, "hop": hop} | row for row in rows[name]]
    for name, found_rows in tables.items():
        write_table(f"extractive_{name}", found_rows, getattr(args, f"{name}_table"))


if __name__ == "__main__":
    recorded(main)
