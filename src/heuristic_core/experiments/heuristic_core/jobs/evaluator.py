"""A checkpoint and its evaluation pairs as one object, for scripts that evaluate many changes of one model."""

from argparse import Namespace
from collections.abc import Iterable

import numpy as np
import pandas as pd
from torch import Tensor

from heuristic_core.evaluation.evaluate import all_logits, judged, predictions, subnetwork_logits
from heuristic_core.experiments.heuristic_core.analysis.ablations import CERTAIN
from heuristic_core.experiments.heuristic_core.analysis.accuracy import RULES
from heuristic_core.experiments.heuristic_core.analysis.levels import VALUES, by_subset
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.models.ablation import ComponentMeans, Mask
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.implementation import load_model
from heuristic_core.tasks.encoded import Count, Encoded


class Evaluator:
    """The model of a checkpoint, its component means, and the pairs on which it is evaluated."""

    def __init__(self, args: Namespace, pairs: Count = None, skip: Count = None):
        """args: what :func:`reads_checkpoint` declared. pairs, skip: see :meth:`.Encoded.thinned`."""
        self.model = load_model(args.checkpoint, args.device, args.precision)
        self.means = ComponentMeans.load(args.means).to(self.model)
        self._thinning = pairs, skip, args.analysis.seed
        self.evaluation = self.thinned(Encoded.load(args.evaluation))
        self.pairs = PairTensors(self.evaluation, self.model.pad, self.model.device)
        self._rule = args.analysis.class_rule

    def thinned(self, encoded: Encoded) -> Encoded:
        """Of a set with the subsets and labels of the evaluation pairs, the pairs at the places that are evaluated."""
        return encoded.thinned(*self._thinning)

    def without(self, removed: Iterable[int]) -> dict[str, np.ndarray]:
        """Predictions without the components `removed`, which are replaced by their means."""
        logits = subnetwork_logits(self.model, self.pairs, sorted(removed), self.means)
        return predictions(logits.numpy(), self.evaluation)

    def edited(self, edit: Mask | None) -> dict[str, np.ndarray]:
        """Predictions with an edit of every batch, such as a `Mask`; of the full model where it is None."""
        return predictions(all_logits(self.model, self.pairs, edit).numpy(), self.evaluation)

    def scores(self, columns: dict[str, np.ndarray]) -> pd.DataFrame:
        """Accuracy and mean log odds by subset, of predictions: see :func:`by_subset`."""
        return by_subset(columns, self._rule)


def values_by_pair(logits: Tensor, evaluation: Encoded, rule: str) -> dict[str, np.ndarray]:
    """Accuracy, percent, and log odds of the true label, nats, of many models on every pair, [n, models].

    logits: [models, n, classes]. rule: ``analysis.class_rule``. Log odds are clipped to +-30.
    """
    found = [judged(one, evaluation) for one in logits.numpy()]
    columns = {name: np.empty((len(evaluation), len(found)), np.float32) for name in VALUES}
    for k, one in enumerate(found):
        columns["accuracy"][:, k] = 100 * one[RULES[rule]]
        columns["log_odds"][:, k] = one["log_odds"].clip(-CERTAIN, CERTAIN)
    return columns


def reads_checkpoint(parser: Arguments) -> None:
    """Declare what an `Evaluator` reads."""
    parser.reads(
        checkpoint="folder of the fine-tuned model",
        means="component means",
        evaluation="encoded evaluation pairs",
    )
    parser.device()
