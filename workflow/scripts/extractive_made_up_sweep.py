"""Teach orders of made-up facts and graft, with other learning rates and epochs, and rank answers at the end."""

from safetensors.torch import load_file

from heuristic_core.experiments.extractive_structures.config import Finetuning, Sweep
from heuristic_core.experiments.extractive_structures.setting import begun, of_seed
from heuristic_core.experiments.extractive_structures.sweeping import made_up_sweep_rows
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = of_seed(__doc__)
    parser.settings("finetuning", Finetuning)
    parser.settings("sweep", Sweep)
    parser.reads(checkpoint="weights after pre-training")
    parser.writes(table="where to write table extractive_made_up_sweep")
    args = parser.read(arguments)
    with begun(args) as setting:
        start, made = load_file(args.checkpoint), setting.made_up()
        found = made_up_sweep_rows(start, made, args.finetuning, args.sweep, setting.vocabulary, args.seed)
        named = {"study": args.study, "seed": args.seed}
        write_table("extractive_made_up_sweep", [named | row for row in found], args.table)


if __name__ == "__main__":
    recorded(main)
