"""Measure which layers must learn a fact, by freezing layers or restoring their former weights."""

from safetensors.torch import load_file

from heuristic_core.experiments.extractive_structures.config import Finetuning, Freezing
from heuristic_core.experiments.extractive_structures.freezing import freezing_rows
from heuristic_core.experiments.extractive_structures.setting import HOPS, begun, of_seed
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = of_seed(__doc__)
    parser.settings("finetuning", Finetuning)
    parser.settings("freezing", Freezing)
    parser.reads(checkpoint="weights after pre-training")
    parser.reads(**{hop: f"weights after the facts of the {hop} hop" for hop in HOPS})
    parser.writes(table="where to write table extractive_freezing")
    args = parser.read(arguments)
    with begun(args) as setting:
        start, rows = load_file(args.checkpoint), []
        for hop in HOPS:
            taught, end = setting.taught(hop), load_file(getattr(args, hop))
            hop_rows = freezing_rows(
                start, end, taught.facts, taught.parts, args.finetuning, args.freezing.early, args.seed
            )
            rows += [{"study": args.study, "seed": args.seed, "hop": hop} | row for row in hop_rows]
        write_table("extractive_freezing", rows, args.table)


if __name__ == "__main__":
    recorded(main)
