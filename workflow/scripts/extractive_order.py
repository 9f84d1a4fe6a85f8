"""Teach facts of made-up words and their implications in several orders; graft and localise what is learned."""

import shutil

from safetensors.torch import load_file

from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.grafting import graft_rows
from heuristic_core.experiments.extractive_structures.localisation import localisation_rows
from heuristic_core.experiments.extractive_structures.ordering import order_rows
from heuristic_core.experiments.extractive_structures.results import ORDERED
from heuristic_core.experiments.extractive_structures.setting import begun, of_seed, unfinished
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = of_seed(__doc__)
    parser.settings("finetuning", Finetuning)
    parser.reads(checkpoint="weights after pre-training")
    parser.writes(**{name: f"where to write table extractive_{name}" for name in ORDERED})
    args = parser.read(arguments)
    with begun(args) as setting:
        saved = unfinished(args, args.ordering, __file__)
        start = load_file(args.checkpoint)
        made, settings, encode = setting.made_up(), args.finetuning, setting.vocabulary
        tested, seed = args.data.cities, args.seed
        orders = order_rows(start, made.first, tested, settings, encode, seed, saved)
        grafts = graft_rows(start, made, orders.stages, settings, encode, seed, saved)
        knows, learned = grafts.knows, grafts.learned
        localisation = localisation_rows(knows, learned, made.first, tested, settings, encode, seed, saved)
        labels = {"study": args.study, "seed": seed}
        for name, rows in zip(ORDERED, (orders.rows, grafts.rows, localisation), strict=True):
            write_table(f"extractive_{name}", [labels | row for row in rows], getattr(args, name))
    if saved:
        shutil.rmtree(saved)


if __name__ == "__main__":
    recorded(main)
