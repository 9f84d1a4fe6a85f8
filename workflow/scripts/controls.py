"""Learned subnetworks against random and gradient-importance ones, from predictions and accuracies."""

from heuristic_core.analysis.controls import controls
from heuristic_core.arguments import Arguments
from heuristic_core.config.analysis import Analysis
from heuristic_core.tables import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.context()
    parser.files(
        predictions="predictions of the controls",
        accuracy="accuracy of every subnetwork",
        table="where to write accuracies and differences",
    )
    args = parser.read(arguments)
    predictions, accuracy = read_table(args.predictions, without=["logits"]), read_table(args.accuracy)
    rows = controls(predictions, accuracy, args.context, args.analysis.subsets, args.analysis.class_rule)
    write_table("controls", rows, args.table)


if __name__ == "__main__":
    main()
