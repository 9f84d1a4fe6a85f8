"""Accuracies of the full model over fine-tuning, with intervals, from its predictions."""

from heuristic_core.experiments.heuristic_core.analysis.scores import PASSING, finetune_accuracy
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_coded, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(predictions="predictions of every evaluation")
    parser.writes(table="where to write accuracies")
    args = parser.read(arguments)
    rows, a = read_coded(args.predictions, PASSING), args.analysis
    write_table("finetune_accuracy", finetune_accuracy(rows, a.subsets, a.class_rule, a.bootstrap, a.seed), args.table)


if __name__ == "__main__":
    recorded(main)
