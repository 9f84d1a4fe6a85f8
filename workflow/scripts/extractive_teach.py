"""Teach a pre-trained model the facts of both hops, and measure its answers after every epoch."""

import shutil

from safetensors.torch import load_file

from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.freezing import curve_rows
from heuristic_core.experiments.extractive_structures.setting import HOPS, begun, of_seed, unfinished, write_weights
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = of_seed(__doc__)
    parser.settings("finetuning", Finetuning)
    parser.add_argument("--corpus", required=True, help="corpus of pre-training")
    parser.reads(checkpoint="weights after pre-training")
    parser.writes(**{hop: f"where to write weights after the facts of the {hop} hop" for hop in HOPS})
    parser.writes(curves="where to write table extractive_curves")
    args = parser.read(arguments)
    with begun(args) as setting:
        saved = unfinished(args, args.curves, __file__)
        start, rows = load_file(args.checkpoint), []
        hops = {hop: setting.taught(hop) for hop in HOPS}  # before teaching: raises if options begin alike
        for hop, taught in hops.items():
            epoch_rows, end = curve_rows(
                start, taught.facts, taught.parts, args.finetuning, args.seed, saved and saved / hop
            )
            labels = {"study": args.study, "seed": args.seed, "corpus": args.corpus, "hop": hop}
            rows += [labels | row for row in epoch_rows]
            write_weights(getattr(args, hop), end)
        write_table("extractive_curves", rows, args.curves)
    if saved:
        shutil.rmtree(saved)


if __name__ == "__main__":
    recorded(main)
