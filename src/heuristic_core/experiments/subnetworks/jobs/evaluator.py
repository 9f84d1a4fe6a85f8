"""Evaluation of many changes of one model on the same pairs."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from torch import Tensor

from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.data.encoded import Encoded, PairLimit
from heuristic_core.experiments.subnetworks.analysis.ablations import MAX_LOG_ODDS
from heuristic_core.experiments.subnetworks.analysis.accuracy import RULES
from heuristic_core.experiments.subnetworks.analysis.levels import VALUES, average_by_subset
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.interventions.evaluate import (
    all_logits,
    make_predictions,
    score_predictions,
    subnetwork_logits,
)
from heuristic_core.models.ablation import ComponentMeans, Mask
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.implementation import load_model


class Evaluator:
    """A model, its component means and its evaluation pairs."""

    def __init__(
        self,
        checkpoint: str,
        means: str,
        evaluation: str,
        analysis: Analysis,
        device: Device = "cpu",
        precision: PrecisionSetting = "float32",
        pairs: PairLimit = None,
        skip: PairLimit = None,
    ):
        """Load the model and the pairs.

        Args:
            checkpoint: Folder of the fine-tuned model.
            means: File of component means.
            evaluation: File of encoded evaluation pairs.
            analysis: Settings of the analysis.
            device: Device of the model.
            precision: Precision of the model.
            pairs: Number of pairs of each subset to evaluate, see :meth:`.Encoded.subsample`.
            skip: Number of pairs of each subset to leave out first.
        """
        self.model = load_model(checkpoint, device, precision)
        self.means = ComponentMeans.load(means).to(self.model)
        self._subsample_args = pairs, skip, analysis.seed
        self.evaluation = self.subsample(Encoded.load(evaluation))
        self.pairs = PairTensors(self.evaluation, self.model.pad, self.model.device)
        self._rule = analysis.class_rule

    def subsample(self, encoded: Encoded) -> Encoded:
        """Subsample a set that has the evaluation set's subsets and labels, at the positions that are evaluated."""
        return encoded.subsample(*self._subsample_args)

    def predict_without(self, removed: Iterable[int]) -> dict[str, np.ndarray]:
        """Predict without components, which are replaced by their means."""
        logits = subnetwork_logits(self.model, self.pairs, sorted(removed), self.means)
        return make_predictions(logits.numpy(), self.evaluation)

    def predict_edited(self, edit: Mask | None) -> dict[str, np.ndarray]:
        """Predict with an edit of every batch, such as a `Mask`; None for the full model."""
        return make_predictions(all_logits(self.model, self.pairs, edit).numpy(), self.evaluation)

    def scores(self, columns: dict[str, np.ndarray]) -> pd.DataFrame:
        """Compute accuracy and mean log odds of predictions by subset, see :func:`average_by_subset`."""
        return average_by_subset(columns, self._rule)


def values_by_pair(logits: Tensor, evaluation: Encoded, rule: str) -> dict[str, np.ndarray]:
    """Compute accuracy, percent, and log odds of the true label, nats, of many models on every pair.

    Args:
        logits: [models, n, classes].
        evaluation: The n pairs.
        rule: ``analysis.class_rule``.

    Returns:
        Both by name, [n, models]. Log odds are clipped to +-30.
    """
    judgements = [score_predictions(model_logits, evaluation) for model_logits in logits.numpy()]
    columns = {name: np.empty((len(evaluation), len(judgements)), np.float32) for name in VALUES}
    for k, judgement in enumerate(judgements):
        columns["accuracy"][:, k] = 100 * judgement[RULES[rule]]
        columns["log_odds"][:, k] = judgement["log_odds"].clip(-MAX_LOG_ODDS, MAX_LOG_ODDS)
    return columns
