"""Give the subnetworks that pruning finds at each checkpoint the weights and means of every checkpoint."""

from argparse import Namespace
from collections.abc import Iterator

import pandas as pd

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.heuristic_core.analysis.transplant import transplant
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.config.mechanism import Mechanism
from heuristic_core.experiments.heuristic_core.jobs.evaluator import Evaluator
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork, load_run
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("mechanism", Mechanism)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "sparsity")
    parser.add_argument("--steps", type=int, nargs="+", required=True, metavar="N", help="steps of the checkpoints")
    parser.reads(
        "+",
        checkpoints="folders of the fine-tuned models",
        means="component means of each",
        subnetworks="subnetworks of all checkpoints (JSON)",
    )
    parser.reads(evaluation="encoded evaluation pairs")
    parser.one_each("steps", "checkpoints", "means")
    parser.device()
    parser.writes(transplant="where to write accuracies")
    args = parser.read(arguments)
    use_threads(1)
    found = [load_run(path) for path in args.subnetworks]
    checkpoints = zip(args.steps, args.checkpoints, args.means, strict=True)
    parts = [part for at in checkpoints for part in _at(args, found, *at)]
    failed = [one for one in found if isinstance(one, FailedRun)]
    rows = transplant(pd.concat(parts), failed, identity(args), args.analysis.subsets)
    write_table("transplant", rows, args.transplant)


def _at(args, found: list[Subnetwork | FailedRun], step: int, checkpoint: str, means: str) -> Iterator[pd.DataFrame]:
    """Accuracy by subset, at one checkpoint, of the full model and of every subnetwork."""
    of_step = Namespace(**vars(args) | {"checkpoint": checkpoint, "means": means})
    evaluator = Evaluator(of_step, args.mechanism.transplant.pairs)
    yield evaluator.scores(evaluator.edited(None)).assign(step=step, mask_step=0, seed=-1)
    for one in found:
        if isinstance(one, Subnetwork):
            rows = evaluator.scores(evaluator.without(one.removed_from(evaluator.model.grid)))
            yield rows.assign(step=step, mask_step=one.identity.step, seed=one.identity.seed)


if __name__ == "__main__":
    recorded(main)
