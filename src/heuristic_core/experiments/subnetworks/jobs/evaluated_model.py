"""Shared parameters of jobs that evaluate many changes of one model."""

from typing import NamedTuple

from heuristic_core.common.roles import Input
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.data.encoded import PairLimit
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.jobs.evaluator import Evaluator


class EvaluatedModel(NamedTuple):
    """A fine-tuned model, and the pairs on which it is evaluated.

    Attributes:
        checkpoint: Folder of the fine-tuned model.
        means: Component means (safetensors).
        evaluation: Encoded evaluation pairs (safetensors).
        analysis: Settings of the analysis.
        device: Device of the model.
        precision: Precision of the model.
    """

    checkpoint: Input
    means: Input
    evaluation: Input
    analysis: Analysis
    device: Device = "cpu"
    precision: PrecisionSetting = "float32"

    def load(self, pairs: PairLimit = None, skip: PairLimit = None) -> Evaluator:
        """Load the model and the pairs.

        Args:
            pairs: Number of pairs of each subset to evaluate; None for all.
            skip: Number of pairs of each subset to leave out first; None for none.
        """
        return Evaluator(
            self.checkpoint, self.means, self.evaluation, self.analysis, self.device, self.precision, pairs, skip
        )
