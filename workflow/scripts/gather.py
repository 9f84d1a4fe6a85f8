"""Gather one checkpoint's results: predictions, accuracies, components and pruning traces of all its subnetworks.

A pruning run that failed has null accuracies with its reason, and no components.
"""

import logging

from heuristic_core.experiments.heuristic_core.analysis.gathered import gathered
from heuristic_core.experiments.heuristic_core.analysis.outcomes import outcomes
from heuristic_core.experiments.heuristic_core.analysis.runs import ENDS, runs
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.subnetwork import FailedRun, load_run
from heuristic_core.tables.columns import CELL
from heuristic_core.tables.parquet import as_frame, concatenate, write_joined, write_table

LOGGER = logging.getLogger("heuristic_core.gather")


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(full="the full model's predictions")
    parser.reads(
        "*",
        subnetworks="the subnetworks (JSON)",
        pruned="predictions of each subnetwork",
        trace_parts="the trace of each subnetwork's pruning",
    )
    parser.add_argument(
        "--controller", choices=("sampled", "expected"), default="sampled", help="which sparsity pruning steered"
    )
    parser.writes(
        predictions="where to write all predictions",
        accuracy="where to write accuracies",
        group_accuracy="where to write accuracies of groups of subsets",
        family_scores="where to write J and AUC of families of subsets",
        components="where to write components",
        traces="where to write pruning traces",
        runs="where to write what became of each pruning run",
    )
    args = parser.read(arguments)
    write_joined("predictions", [args.full, *args.pruned], args.predictions)
    found = list(map(load_run, args.subnetworks))
    failed = [one for one in found if isinstance(one, FailedRun)]
    (accuracy, groups, families), chance = gathered(args.full, args.pruned, args.analysis, failed)
    write_table("accuracy", accuracy, args.accuracy)
    write_table("group_accuracy", groups, args.group_accuracy)
    write_table("family_scores", families, args.family_scores)
    write_table("components", [row for one in found for row in one.rows()], args.components)
    traces = concatenate("prune_trace", args.trace_parts)
    write_table("prune_trace", traces, args.traces)
    became = runs(found, as_frame(traces.select([*CELL, *ENDS])), groups, chance, args.controller)
    write_table("runs", became, args.runs)
    for outcome in outcomes(became):
        LOGGER.warning("%s", outcome)


if __name__ == "__main__":
    recorded(main)
