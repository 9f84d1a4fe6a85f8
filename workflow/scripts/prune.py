"""Find subnetworks of a checkpoint at one sparsity, one for each pruning seed; the seeds share every pass.

Interrupted, it resumes where it saved last. A run that diverges is written as a failed one.
"""

import shutil

from heuristic_core.common.threads import use_threads
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.jobs.pruning_run import Pruner, reads_pruned
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.learner import PruningRun


def main(arguments=None):
    parser = Arguments(__doc__)
    reads_pruned(parser)
    parser.add_argument("--seeds", type=int, nargs="+", required=True, metavar="N", help="pruning seeds")
    parser.add_argument("--repeat", type=int, default=0, help="0; another number marks the same run, run again")
    parser.writes(
        "+",
        subnetworks="where to write each seed's subnetwork (JSON)",
        traces="where to write the trace of each seed's pruning (Parquet)",
    )
    parser.one_each("seeds", "subnetworks", "traces")
    parser.device(precision=False)
    args = parser.read(arguments)
    use_threads(1)
    pruner = Pruner(args)
    unfinished = pruner.unfinished(args.subnetworks[0], args.seeds, code_digest(__file__))
    found = pruner.prune(
        [PruningRun(pruner.cell.sparsity, seed) for seed in args.seeds], unfinished / "state.safetensors"
    )
    for one, subnetwork, trace in zip(found, args.subnetworks, args.traces, strict=True):
        pruner.save(one, pruner.cell._replace(seed=one.run.seed, repeat=args.repeat), subnetwork, trace)
    shutil.rmtree(unfinished)


if __name__ == "__main__":
    recorded(main)
