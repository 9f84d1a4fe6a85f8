"""Predictions with heads replaced, by kind of replacement."""

import logging
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from heuristic_core.common.errors import InputError
from heuristic_core.data.encoded import Encoded
from heuristic_core.data.minimal_pairs import PairedSets, select_paired
from heuristic_core.experiments.subnetworks.config.analysis import COUNTERFACTUAL, Analysis
from heuristic_core.interventions.evaluate import draw_donors, make_predictions, subnetwork_logits
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.model import Model

LOGGER = logging.getLogger(__name__)


class Replacements:
    """Replacements of heads for one model and its evaluation pairs.

    Counterfactual ablation uses only pairs with a minimal pair, and is left out if no pair has one.

    Attributes:
        kinds: Kinds of `analysis.ablation_kinds` that the pairs allow.
    """

    def __init__(
        self,
        model: Model,
        means: ComponentMeans,
        evaluation: str,
        train: str,
        minimal: str | None,
        analysis: Analysis,
    ):
        """Load the pairs.

        Args:
            model: The full model.
            means: Component means.
            evaluation: File of encoded evaluation pairs.
            train: File of encoded training pairs.
            minimal: File of the evaluation pairs' minimal pairs, for counterfactual ablation.
            analysis: Settings of the analysis.

        Raises:
            InputError: If the pairs allow no kind.
        """
        self._model, self._means, self._analysis = model, means, analysis
        self._train, self._draws = train, {}
        self._evaluation, self.kinds = self._subsample(evaluation), list(analysis.ablation_kinds)
        self._all_pairs = PairTensors(self._evaluation, model.pad, model.device)
        if COUNTERFACTUAL in self.kinds:
            self._paired = self._with_minimal_pairs(minimal)

    def predictions(self, kind: str, heads: Sequence[int], draw: int) -> dict[str, np.ndarray]:
        """Predict with heads replaced.

        Args:
            kind: Kind of replacement.
            heads: Component indices of the heads.
            draw: Number of the draw of donors, for "resample".

        Returns:
            Columns of table "ablation_predictions" from `subset` on. Column `example` is the position of a pair in the
            subsampled evaluation set.
        """
        if kind != COUNTERFACTUAL:
            donors = self._donors(draw) if kind == "resample" else None
            return self._predictions(kind, heads, self._evaluation, self._all_pairs, donors)
        places, pairs, _ = self._paired
        return self._predictions(kind, heads, pairs, *self._tensors) | {"example": places}

    def _predictions(self, kind, heads, pairs: Encoded, tensors: PairTensors, donors: PairTensors | None):
        return make_predictions(
            subnetwork_logits(self._model, tensors, heads, self._means, kind, donors).numpy(), pairs
        )

    def _donors(self, draw: int) -> PairTensors:
        if draw not in self._draws:
            drawn = draw_donors(self._training_pairs, len(self._evaluation), self._analysis.seed, draw)
            self._draws[draw] = PairTensors(drawn, self._model.pad, self._model.device)
        return self._draws[draw]

    @cached_property
    def _training_pairs(self) -> Encoded:
        return Encoded.load(self._train)

    @cached_property
    def _tensors(self) -> tuple[PairTensors, PairTensors]:
        """Pairs with a minimal pair, and these minimal pairs."""
        pairs, minimal = (PairTensors(encoded, self._model.pad, self._model.device) for encoded in self._paired[1:])
        return pairs, minimal

    def _with_minimal_pairs(self, path: str | None) -> PairedSets | None:
        if path is None:
            raise InputError("counterfactual ablation needs minimal pairs; add --minimal")
        if result := select_paired(self._evaluation, self._subsample(path)):
            return result
        self.kinds.remove(COUNTERFACTUAL)
        reason = "no evaluation pair has a minimal pair (same family and length, other label)"
        if not self.kinds:
            raise InputError(
                f"analysis.ablation_kinds: [counterfactual]: {reason}; add mean, zero or resample, or set family_by "
                "in task.evaluation"
            )
        LOGGER.warning("counterfactual ablation is left out: %s", reason)
        return None

    def _subsample(self, path: str) -> Encoded:
        return Encoded.load(path).subsample(self._analysis.ablation_pairs, seed=self._analysis.seed)
