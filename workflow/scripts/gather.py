"""Gather one checkpoint's results: predictions, accuracies, components and pruning traces of all its subnetworks.

A pruning run that failed has null accuracies with its reason, and no components.
"""

import logging

from heuristic_core.analysis.runs import chance, outcomes, runs
from heuristic_core.analysis.scores import accuracies
from heuristic_core.arguments import Arguments
from heuristic_core.components import FailedRun, load_run
from heuristic_core.config.analysis import Analysis
from heuristic_core.tables import as_frame, concatenate, matrix, write_table

LOGGER = logging.getLogger("heuristic_core")


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.files(full="the full model's predictions")
    parser.add_argument(
        "--controller", choices=("sampled", "expected"), default="sampled", help="which sparsity pruning steered"
    )
    parser.add_argument("--cells", nargs="*", default=[], metavar="FOLDER", help="folders of the subnetworks")
    parser.files(
        predictions="where to write all predictions",
        accuracy="where to write accuracies",
        group_accuracy="where to write accuracies of groups of subsets",
        components="where to write components",
        traces="where to write pruning traces",
        runs="where to write what became of each pruning run",
    )
    args = parser.read(arguments)
    predictions = concatenate("predictions", [args.full, *(f"{cell}/predictions.parquet" for cell in args.cells)])
    write_table("predictions", predictions, args.predictions)
    a, logits = args.analysis, matrix(predictions["logits"])
    rows = as_frame(predictions.drop_columns("logits"))
    found = [load_run(f"{cell}/subnetwork.json") for cell in args.cells]
    failed = [one for one in found if isinstance(one, FailedRun)]
    accuracy, groups = accuracies(rows, logits, a.subsets, a.class_rule, a.bootstrap, a.seed, failed)
    write_table("accuracy", accuracy, args.accuracy)
    write_table("group_accuracy", groups, args.group_accuracy)
    write_table("components", [row for one in found for row in one.rows()], args.components)
    traces = concatenate("prune_trace", [f"{cell}/trace.parquet" for cell in args.cells])
    write_table("prune_trace", traces, args.traces)
    became = runs(found, as_frame(traces), groups, chance(rows, a.subsets), args.controller)
    write_table("runs", became, args.runs)
    for outcome in outcomes(became):
        LOGGER.warning("%s", outcome)


if __name__ == "__main__":
    main()
