"""Predictions of one subnetwork on every evaluation pair."""

import torch

from heuristic_core.ablation import ComponentMeans, MeanAblation
from heuristic_core.arguments import Arguments
from heuristic_core.components import Subnetwork
from heuristic_core.evaluate import all_logits, predictions
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.fused import FusedBert
from heuristic_core.tables import write_table
from heuristic_core.tasks.encoded import Encoded
from heuristic_core.threads import use_threads


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.files(
        checkpoint="folder of the fine-tuned model",
        means="component means",
        subnetwork="the subnetwork (JSON)",
        evaluation="encoded evaluation pairs",
        predictions="where to write predictions (Parquet)",
    )
    args = parser.read(arguments)
    use_threads(1)
    model, evaluation = FusedBert.load(args.checkpoint), Encoded.load(args.evaluation)
    subnetwork = Subnetwork.load(args.subnetwork)
    edit = MeanAblation(torch.tensor(subnetwork.mask), ComponentMeans.load(args.means), model.grid)
    logits = all_logits(model, PairTensors(evaluation), edit).numpy()
    columns = predictions(logits, evaluation.labels, evaluation.subsets)
    write_table("predictions", subnetwork.identity.columns(len(evaluation)) | columns, args.predictions)


if __name__ == "__main__":
    main()
