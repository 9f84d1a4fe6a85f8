"""Teach facts of made-up words and their implications in several orders, and graft what was learned."""

import shutil

from safetensors.torch import load_file

from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.ordering import graft_rows, order_rows
from heuristic_core.experiments.extractive_structures.setting import begun, of_seed, unfinished
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = of_seed(__doc__)
    parser.settings("finetuning", Finetuning)
    parser.reads(checkpoint="weights after pre-training")
    parser.writes(ordering="where to write table extractive_ordering", grafting="where to write extractive_grafting")
    args = parser.read(arguments)
    with begun(args) as setting:
        saved = unfinished(args, args.ordering, __file__)
        start = load_file(args.checkpoint)
        made, settings, encode = setting.made_up(), args.finetuning, setting.vocabulary
        orders = order_rows(start, made.first, args.data.cities, settings, encode, args.seed, saved)
        grafts = graft_rows(start, made, orders.stages, settings, encode, args.seed, saved)
        named = {"study": args.study, "seed": args.seed}
        for name, rows in (("ordering", orders.rows), ("grafting", grafts)):
            write_table(f"extractive_{name}", [named | row for row in rows], getattr(args, name))
    if saved:
        shutil.rmtree(saved)


if __name__ == "__main__":
    recorded(main)
