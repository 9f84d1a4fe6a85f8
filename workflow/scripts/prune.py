"""Find one subnetwork of a checkpoint: one sparsity, one pruning seed."""

from safetensors.torch import load_file

from heuristic_core.ablation import ComponentMeans
from heuristic_core.arguments import Arguments, identity
from heuristic_core.components import Subnetwork
from heuristic_core.config.blocks import Prune
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.fused import FusedBert
from heuristic_core.prune import PruningInputs, prune
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
    args = parser.read(arguments)
    use_threads(1)
    run, model = identity(args), FusedBert.load(args.checkpoint)
    pairs = PairTensors(Encoded.load(args.train).first(args.prune.examples))
    inputs = PruningInputs(model, ComponentMeans.load(args.means), pairs, load_file(args.logits)["logits"])
    found = prune(inputs, run.sparsity, run.seed, args.prune)
    write_table("prune_trace", [{**run._asdict(), **row} for row in found.trace], args.trace)
    alphas = tuple(found.log_alpha.tolist())
    Subnetwork(run, model.grid.layers, model.grid.heads, tuple(found.kept), alphas).save(args.subnetwork)


if __name__ == "__main__":
    main()
