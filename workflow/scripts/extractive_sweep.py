"""Teach the facts of both hops with several learning rates, and rank answers after several numbers of epochs."""

from safetensors.torch import load_file

from heuristic_core.experiments.extractive_structures.config import Finetuning, Sweep
from heuristic_core.experiments.extractive_structures.freezing import curve_rows
from heuristic_core.experiments.extractive_structures.setting import HOPS, begun, of_seed
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = of_seed(__doc__)
    parser.settings("finetuning", Finetuning)
    parser.settings("sweep", Sweep)
    parser.reads(checkpoint="weights after pre-training")
    parser.writes(table="where to write table extractive_sweep")
    args = parser.read(arguments)
    with begun(args) as setting:
        start, rows = load_file(args.checkpoint), []
        for hop in HOPS:
            taught = setting.taught(hop)
            for rate in args.sweep.learning_rates:
                settings = args.finetuning.model_copy(update={"learning_rate": rate, "epochs": args.sweep.epochs[-1]})
                epoch_rows, _ = curve_rows(start, taught.facts, taught.parts, settings, args.seed)
                labels = {"study": args.study, "seed": args.seed, "hop": hop, "learning_rate": rate}
                rows += [labels | row for row in epoch_rows if row["epoch"] in args.sweep.epochs]
        write_table("extractive_sweep", rows, args.table)


if __name__ == "__main__":
    recorded(main)
