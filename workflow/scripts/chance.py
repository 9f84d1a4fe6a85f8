"""The full model's in-domain accuracy against chance, from its predictions."""

from heuristic_core.experiments.heuristic_core.analysis.chance import judged_files
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(full="the full model's predictions", subsets="subsets and labels (JSON)")
    parser.writes(table="where to write accuracy and chance")
    args = parser.read(arguments)
    write_table("chance", [judged_files(args.full, args.subsets, args.analysis)], args.table)


if __name__ == "__main__":
    recorded(main)
