"""Teach a pre-trained model the facts of both hops, and follow what it answers."""

from safetensors.torch import load_file, save

from heuristic_core.common.atomic import write_bytes
from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.extractive_structures.config import Data, Finetuning
from heuristic_core.experiments.extractive_structures.freezing import curve_rows
from heuristic_core.experiments.extractive_structures.setting import HOPS, Setting
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("data", Data)
    parser.settings("finetuning", Finetuning)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument("--seed", type=int, required=True, help="of the world and of the order of facts")
    parser.add_argument("--corpus", required=True, help="that the model was pre-trained on")
    parser.reads(checkpoint="weights after pre-training")
    parser.writes(**{hop: f"where to write weights after the facts of the {hop} hop" for hop in HOPS})
    parser.writes(curves="where to write table extractive_curves")
    args = parser.read(arguments)
    use_threads(1)
    setting, start, rows = Setting(args.data, args.seed), load_file(args.checkpoint), []
    for hop in HOPS:
        taught = setting.taught(hop)
        found, end = curve_rows(start, taught.facts, taught.parts, args.finetuning, args.seed)
        named = {"study": args.study, "seed": args.seed, "corpus": args.corpus, "hop": hop}
        rows += [named | row for row in found]
        write_bytes(getattr(args, hop), save(end))
    write_table("extractive_curves", rows, args.curves)


if __name__ == "__main__":
    recorded(main)
