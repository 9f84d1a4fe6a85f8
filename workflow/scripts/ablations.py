"""What ablating heads costs, from predictions."""

from heuristic_core.analysis.ablations import ablations
from heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_coded, read_table, write_table
from heuristic_core.tables.schemas import ABLATION, RUN, STEP, SUBSET

COLUMNS = [*RUN, *STEP, *ABLATION, "draw", *SUBSET, "template", "example", "correct", "correct_merged", "log_odds"]


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(
        predictions="predictions of every ablation",
        sets="the ablated sets",
    )
    parser.writes(table="where to write accuracies and changes")
    args = parser.read(arguments)
    predictions, settings, sets = read_coded(args.predictions, COLUMNS), args.analysis, read_table(args.sets)
    rows = ablations(predictions, sets, settings.subsets, settings.class_rule, settings.bootstrap, settings.seed)
    write_table("ablations", rows, args.table)


if __name__ == "__main__":
    recorded(main)
