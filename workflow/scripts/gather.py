"""Gather one checkpoint's results: predictions, accuracies, components and pruning traces of all its subnetworks."""

from heuristic_core.analysis.scores import accuracies
from heuristic_core.arguments import Arguments
from heuristic_core.components import Subnetwork
from heuristic_core.config.analysis import Analysis
from heuristic_core.tables import as_frame, concatenate, matrix, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.files(full="the full model's predictions")
    parser.add_argument("--cells", nargs="*", default=[], metavar="FOLDER", help="folders of the subnetworks")
    parser.files(
        predictions="where to write all predictions",
        accuracy="where to write accuracies",
        group_accuracy="where to write accuracies of groups of subsets",
        components="where to write components",
        traces="where to write pruning traces",
    )
    args = parser.read(arguments)
    predictions = concatenate("predictions", [args.full, *(f"{cell}/predictions.parquet" for cell in args.cells)])
    write_table("predictions", predictions, args.predictions)
    a, logits = args.analysis, matrix(predictions["logits"])
    rows = as_frame(predictions.drop_columns("logits"))
    accuracy, groups = accuracies(rows, logits, a.subsets, a.class_rule, a.bootstrap, a.seed)
    write_table("accuracy", accuracy, args.accuracy)
    write_table("group_accuracy", groups, args.group_accuracy)
    subnetworks = [Subnetwork.load(f"{cell}/subnetwork.json") for cell in args.cells]
    write_table("components", [row for subnetwork in subnetworks for row in subnetwork.rows()], args.components)
    write_table(
        "prune_trace", concatenate("prune_trace", [f"{cell}/trace.parquet" for cell in args.cells]), args.traces
    )


if __name__ == "__main__":
    main()
