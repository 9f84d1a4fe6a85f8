"""The mid-sparsity subnetworks of one run whose pruning went well, which parts of the block `mechanism` use.

Others failed, collapsed or missed their target, as table "runs" says.
"""

import logging

from heuristic_core.experiments.heuristic_core.analysis.outcomes import faults, outcomes
from heuristic_core.experiments.heuristic_core.analysis.runs import chance, runs
from heuristic_core.experiments.heuristic_core.analysis.scores import accuracies
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.subnetwork import load_run
from heuristic_core.tables.columns import CELL, RUN, STEP, SUBSET
from heuristic_core.tables.parquet import as_frame, concatenate, matrix, write_table

COLUMNS = [*RUN, *STEP, *CELL, *SUBSET, "template", "label", "example", "correct", "correct_merged"]
LOGGER = logging.getLogger("heuristic_core.sound_subnetworks")


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(full="the full model's predictions")
    parser.reads(
        "+",
        subnetworks="the mid-sparsity subnetworks of the checkpoint (JSON)",
        pruned="predictions of each subnetwork",
        trace_parts="the trace of each subnetwork's pruning",
    )
    parser.add_argument(
        "--controller", choices=("sampled", "expected"), default="sampled", help="which sparsity pruning steered"
    )
    parser.writes(components="where to write the components of sound subnetworks")
    args = parser.read(arguments)
    a, predictions = args.analysis, concatenate("predictions", [args.full, *args.pruned])
    rows, logits = as_frame(predictions.select(COLUMNS)), matrix(predictions["logits"])
    found = list(map(load_run, args.subnetworks))
    _, groups, _ = accuracies(rows, logits, a.subsets, a.class_rule, a.bootstrap, a.seed)
    traces = as_frame(concatenate("prune_trace", args.trace_parts))
    became = runs(found, traces, groups, chance(rows, a.subsets), args.controller)
    for outcome in outcomes(became):
        LOGGER.warning("left out: %s", outcome)
    faulty = faults(became).any(axis="columns")
    sound = [row for one, bad in zip(found, faulty, strict=True) if not bad for row in one.rows()]
    write_table("components", sound, args.components)


if __name__ == "__main__":
    recorded(main)
