"""Find subnetworks of a checkpoint at one sparsity, one for each pruning seed; the seeds share every pass.

Interrupted, it resumes where it saved last. A run that diverges is written as a failed one.
"""

import logging
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file

from heuristic_core.common.hashing import file_digest
from heuristic_core.common.threads import use_threads
from heuristic_core.config.pruning import Prune
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.jobs.scratch import scratch
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.implementation import load_model
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.discretise import discretise
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.prune import prune, pruning_inputs
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork
from heuristic_core.tables.parquet import write_table
from heuristic_core.tasks.encoded import Encoded

LOGGER = logging.getLogger("heuristic_core.prune")


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("prune", Prune)
    parser.identity("ft_seed", "step", "sparsity")
    parser.add_argument("--seeds", type=int, nargs="+", required=True, metavar="N", help="pruning seeds")
    parser.add_argument("--repeat", type=int, default=0, help="0; another number marks the same run, run again")
    parser.reads(
        checkpoint="folder of the fine-tuned model",
        means="component means",
        logits="the full model's logits on the training pairs",
        train="encoded training pairs",
    )
    parser.writes(
        "+",
        subnetworks="where to write each seed's subnetwork (JSON)",
        traces="where to write the trace of each seed's pruning (Parquet)",
    )
    parser.one_each("seeds", "subnetworks", "traces")
    parser.device(precision=False)
    args = parser.read(arguments)
    use_threads(1)
    cell, model = identity(args), load_model(args.checkpoint, args.device, args.prune.precision)
    grid = model.grid
    means, logits = ComponentMeans.load(args.means), load_file(args.logits)["logits"]
    inputs, held_out = pruning_inputs(model, means, Encoded.load(args.train), logits, args.prune)
    made_from = [args.prune.model_dump_json(), str(cell), str(args.seeds), args.device, torch.__version__]
    made_from += [code_digest(__file__), *(file_digest(path) for path in (args.means, args.logits, args.train))]
    unfinished = scratch(Path(args.subnetworks[0]).with_name(".unfinished"), "\n".join(made_from))
    runs = [PruningRun(cell.sparsity, seed) for seed in args.seeds]
    found = prune(inputs, runs, args.prune, unfinished / "state.safetensors")
    for one, subnetwork, trace in zip(found, args.subnetworks, args.traces, strict=True):
        run = cell._replace(seed=one.run.seed, repeat=args.repeat)
        write_table("prune_trace", [{**run._asdict(), **row} for row in one.trace], trace)
        if one.failed:
            LOGGER.warning("failed run: seed %d %s", run.seed, one.failed)
            FailedRun(run, one.failed).save(subnetwork)
            continue
        kept = discretise(one.log_alpha, grid, run.sparsity, args.prune, held_out)
        alphas = tuple(one.log_alpha.tolist())
        decided = kept.threshold, kept.rule
        Subnetwork(run, grid.layers, grid.heads, tuple(kept.components), alphas, *decided).save(subnetwork)
    shutil.rmtree(unfinished)


if __name__ == "__main__":
    recorded(main)
