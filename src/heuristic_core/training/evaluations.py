"""Evaluations of a model in training, which run beside it."""

import logging
import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import torch

from heuristic_core.models.implementation import copy_model
from heuristic_core.models.model import Model

if TYPE_CHECKING:
    from transformers import PreTrainedModel


LOGGER = logging.getLogger(__name__)


class Evaluations:
    """A thread that evaluates copies of a model, one at a time, while the model trains on.

    On a CPU with a free core, evaluations then take no time. As a context manager, it waits for the last one at the
    end.

    Args:
        evaluate: Called in the thread with the step and the copy.
        precision: Precision of the copies.
    """

    def __init__(self, evaluate: Callable[[int, Model], Any], precision: str):
        self._evaluate, self._precision = evaluate, precision
        # Threads of torch do not inherit how denormal numbers are treated.
        self._thread = ThreadPoolExecutor(1, initializer=torch.set_flush_denormal, initargs=(True,))
        self._running: dict[int, Future] = {}

    def __enter__(self) -> "Evaluations":
        return self

    def __exit__(self, kind, *_) -> None:
        self._thread.shutdown()
        if kind:
            for step, future in self._running.items():
                if error := future.exception():
                    LOGGER.warning("the evaluation at step %d failed, too: %s", step, error)

    def start(self, step: int, model: "PreTrainedModel") -> None:
        """Start an evaluation, after the one before it has ended.

        Args:
            step: Step of training.
            model: The model at this step, which is copied.

        Raises:
            Exception: What the evaluation before it raised.
        """
        for future in self._running.values():
            future.result()
        self._running[step] = self._thread.submit(self._evaluate, step, copy_model(model, self._precision))

    def collect(self, before: float = math.inf) -> dict[int, Any]:
        """Return what evaluations returned, by step, once each.

        Args:
            before: Wait for evaluations of earlier steps than this one. Of others, only those that have ended are
                returned.

        Raises:
            Exception: What an evaluation raised.
        """
        ended = {step: future for step, future in self._running.items() if step < before or future.done()}
        self._running = {step: future for step, future in self._running.items() if step not in ended}
        return {step: future.result() for step, future in ended.items()}
