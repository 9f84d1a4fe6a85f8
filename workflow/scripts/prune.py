"""Find one subnetwork of a checkpoint: one sparsity, one pruning seed. Interrupted, it resumes where it saved last."""

import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file

from heuristic_core.ablation import ComponentMeans
from heuristic_core.arguments import Arguments, identity
from heuristic_core.components import Subnetwork
from heuristic_core.config.blocks import Prune
from heuristic_core.discretise import discretise
from heuristic_core.learner import Run
from heuristic_core.models.load import load_model
from heuristic_core.provenance import code_digest, file_digest
from heuristic_core.prune import prune, pruning_inputs
from heuristic_core.scratch import scratch
from heuristic_core.tables import write_table
from heuristic_core.tasks.encoded import Encoded
from heuristic_core.threads import use_threads


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("prune", Prune)
    parser.identity("ft_seed", "step", "sparsity", "seed")
    parser.files(
        checkpoint="folder of the fine-tuned model",
        means="component means",
        logits="the full model's logits on the training pairs",
        train="encoded training pairs",
        subnetwork="where to write the subnetwork (JSON)",
        trace="where to write the trace of pruning (Parquet)",
    )
    parser.device()
    args = parser.read(arguments)
    use_threads(1)
    run, model = identity(args), load_model(args.checkpoint, args.device, args.prune.precision)
    means, logits = ComponentMeans.load(args.means), load_file(args.logits)["logits"]
    inputs, held_out = pruning_inputs(model, means, Encoded.load(args.train), logits, args.prune)
    made_from = [args.prune.model_dump_json(), str(run), args.device, torch.__version__, code_digest(__file__)]
    made_from += [file_digest(path) for path in (args.means, args.logits, args.train)]
    unfinished = scratch(Path(args.subnetwork).with_name(".unfinished"), "\n".join(made_from))
    (found,) = prune(inputs, [Run(run.sparsity, run.seed)], args.prune, unfinished / "state.safetensors")
    kept = discretise(found.log_alpha, model.grid, run.sparsity, args.prune, held_out)
    write_table("prune_trace", [{**run._asdict(), **row} for row in found.trace], args.trace)
    alphas, (layers, heads) = tuple(found.log_alpha.tolist()), (model.grid.layers, model.grid.heads)
    Subnetwork(run, layers, heads, tuple(kept.components), alphas, kept.threshold).save(args.subnetwork)
    shutil.rmtree(unfinished)


if __name__ == "__main__":
    main()
