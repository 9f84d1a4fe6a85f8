"""What every pruning run of a checkpoint shares: component means, the full model's logits, and its predictions."""

from safetensors.torch import save

from heuristic_core.common.atomic import write_bytes
from heuristic_core.common.threads import use_threads
from heuristic_core.evaluation.evaluate import all_logits, predictions
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.implementation import load_model
from heuristic_core.models.micro_batches import BATCH_TOKENS
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table
from heuristic_core.tasks.encoded import Encoded


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--examples", type=int, help="training pairs that pruning draws from; default: all")
    parser.add_argument("--mean-examples", type=int, help="training pairs that means are taken over; default: all")
    parser.identity("ft_seed", "step")
    parser.reads(
        checkpoint="folder of the fine-tuned model",
        train="encoded training pairs",
        evaluation="encoded evaluation pairs",
    )
    parser.writes(
        means="where to write component means (safetensors)",
        logits="where to write logits on the training pairs that pruning uses (safetensors)",
        predictions="where to write predictions on the evaluation pairs (Parquet)",
    )
    parser.device()
    args = parser.read(arguments)
    use_threads(1)
    model, train, evaluation = (
        load_model(args.checkpoint, args.device, args.precision),
        *map(Encoded.load, (args.train, args.evaluation)),
    )
    sample, used, held_out = (
        PairTensors(one, model.pad, model.device)
        for one in (train.first(args.mean_examples), train.first(args.examples), evaluation)
    )
    logits, predicted = (all_logits(model, one) for one in (used, held_out))
    component_means(model, sample, sample.by_length(BATCH_TOKENS[args.device])).save(args.means)
    write_bytes(args.logits, save({"logits": logits}))
    columns = predictions(predicted.numpy(), evaluation)
    write_table("predictions", identity(args).columns(len(evaluation)) | columns, args.predictions)


if __name__ == "__main__":
    recorded(main)
