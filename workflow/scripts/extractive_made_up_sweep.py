"""Rank answers after orders and grafts of made-up facts with several learning rates and numbers of epochs."""

from safetensors.torch import load_file

from heuristic_core.experiments.extractive_structures.config import Finetuning, Sweep
from heuristic_core.experiments.extractive_structures.setting import begun, of_seed
from heuristic_core.experiments.extractive_structures.sweeping import made_up_sweep_rows
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = of_seed(__doc__)
    parser.settings("finetuning", Finetuning)
    parser.settings("sweep", Sweep)
    parser.reads(checkpoint="weights after pre-training")
    parser.writes(table="where to write table extractive_made_up_sweep")
    args = parser.read(arguments)
    with begun(args) as setting:
        start, made = load_file(args.checkpoint), setting.made_up()
        rows = made_up_sweep_rows(start, made, args.finetuning, args.sweep, setting.vocabulary, args.seed)
        labels = {"study": args.study, "seed": args.seed}
        write_table("extractive_made_up_sweep", [labels | row for row in rows], args.table)


if __name__ == "__main__":
    recorded(main)
