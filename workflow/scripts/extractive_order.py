"""Teach facts of made-up words and their implications in several orders, and graft what was learned."""

from safetensors.torch import load_file

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.extractive_structures.config import Data, Finetuning
from heuristic_core.experiments.extractive_structures.ordering import graft_rows, order_rows
from heuristic_core.experiments.extractive_structures.setting import Setting
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("data", Data)
    parser.settings("finetuning", Finetuning)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument("--seed", type=int, required=True, help="of the world and of the order of facts")
    parser.reads(checkpoint="weights after pre-training")
    parser.writes(ordering="where to write table extractive_ordering", grafting="where to write extractive_grafting")
    args = parser.read(arguments)
    use_threads(1)
    setting, start = Setting(args.data, args.seed), load_file(args.checkpoint)
    made, settings, encode = setting.made_up(), args.finetuning, setting.vocabulary
    orders = order_rows(start, made.first, args.data.cities, settings, encode, args.seed)
    grafts = graft_rows(start, made, orders.stages, settings, encode, args.seed)
    named = {"study": args.study, "seed": args.seed}
    for name, rows in (("ordering", orders.rows), ("grafting", grafts)):
        write_table(f"extractive_{name}", [named | row for row in rows], getattr(args, name))


if __name__ == "__main__":
    recorded(main)
