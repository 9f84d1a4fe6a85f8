"""Predictions of one subnetwork on every evaluation pair; none of a failed run."""

import logging

from heuristic_core.common.errors import InputError
from heuristic_core.common.threads import use_threads
from heuristic_core.evaluation.evaluate import drawn_donors, predictions, subnetwork_logits
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.implementation import load_model
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.subnetwork import FailedRun, load_run
from heuristic_core.tables.parquet import write_table
from heuristic_core.tasks.encoded import Encoded

LOGGER = logging.getLogger("heuristic_core.evaluate")


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.reads(
        checkpoint="folder of the fine-tuned model",
        means="component means",
        subnetwork="the subnetwork (JSON)",
        evaluation="encoded evaluation pairs",
    )
    parser.reads("?", train="encoded training pairs, from which resample ablation takes activations")
    parser.writes(predictions="where to write predictions (Parquet)")
    parser.add_argument(
        "--ablation", choices=("mean", "zero", "resample"), default="mean", help="what replaces removed components"
    )
    parser.add_argument("--ablation-seed", type=int, default=0, help="of the training pairs that it draws")
    parser.device()
    args = parser.read(arguments)
    use_threads(1)
    subnetwork = load_run(args.subnetwork)
    if isinstance(subnetwork, FailedRun):
        LOGGER.warning("no predictions: this run %s", subnetwork.reason)
        return write_table("predictions", [], args.predictions)
    model, evaluation = load_model(args.checkpoint, args.device, args.precision), Encoded.load(args.evaluation)
    means, donors = ComponentMeans.load(args.means), None
    if args.ablation == "resample":
        if not args.train:
            raise InputError("--ablation resample takes activations from training pairs; give them by --train")
        drawn = drawn_donors(Encoded.load(args.train), len(evaluation), args.ablation_seed, 0)
        donors = PairTensors(drawn, model.pad, model.device)
    pairs, removed = PairTensors(evaluation, model.pad, model.device), subnetwork.removed_from(model.grid)
    logits = subnetwork_logits(model, pairs, removed, means, args.ablation, donors)
    columns = predictions(logits.numpy(), evaluation)
    write_table("predictions", subnetwork.identity.columns(len(evaluation)) | columns, args.predictions)


if __name__ == "__main__":
    recorded(main)
