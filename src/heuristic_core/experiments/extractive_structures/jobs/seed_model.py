"""What jobs on a pre-trained model of one seed share."""

from contextlib import AbstractContextManager
from typing import NamedTuple

from heuristic_core.common.roles import Input
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.extractive_structures.config import Data
from heuristic_core.experiments.extractive_structures.setting import Setting, open_setting


class SeedModel(NamedTuple):
    """A pre-trained model of one seed, and the world that it is asked about.

    Attributes:
        checkpoint: Weights after pre-training (safetensors).
        data: Who and what facts are about.
        study: Name of the study.
        seed: Seed of the world, the initial weights and the order of sentences.
        tokenizer: Files of the tokenizer of a model that is not made here, tokenizer.json first.
        device: Device of the model.
        precision: Precision of matrix products.
    """

    checkpoint: Input
    data: Data
    study: str
    seed: int
    tokenizer: list[Input] = ()
    device: Device = "cpu"
    precision: PrecisionSetting = "float32"

    @property
    def labels(self) -> dict[str, str | int]:
        """Identity columns of the seed's tables."""
        return {"study": self.study, "seed": self.seed}

    def open_setting(self) -> AbstractContextManager[Setting]:
        """Open the seed's world on the device."""
        return open_setting(self.data, self.seed, self.tokenizer, self.device, self.precision)
