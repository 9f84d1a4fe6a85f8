"""A fine-tuned model, or a part of it, that classifies pairs of sentences."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heuristic_core.common.errors import InputError
from heuristic_core.data.words import WordPair, encode_word_pairs, find_unknown_words, to_encoded
from heuristic_core.interventions.attention import map_table
from heuristic_core.interventions.evaluate import subnetwork_logits
from heuristic_core.models.ablation import ComponentMeans, Mask, gates_without, zero_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.implementation import load_model
from heuristic_core.models.model import Model
from heuristic_core.pruning.subnetwork import Subnetwork
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_frame

if TYPE_CHECKING:
    import pandas as pd

Pair = tuple[str, str]


@dataclass(frozen=True)
class Classifier:
    """A model without the components `removed` (ascending indices), whose means take their place.

    run: of which checkpoint it is. folder: of the checkpoint, with `checkpoint/` and `means.safetensors`. max_length:
    tokens beyond which a pair loses the end of its longer sentence, as in the study.
    """

    run: Identity
    folder: Path
    max_length: int
    full: Model = field(repr=False)
    removed: tuple[int, ...] = ()

    @classmethod
    def load(cls, run: Identity, folder: Path, max_length: int, device: str, precision: str) -> Classifier:
        """Load the full model.

        Raises:
            InputError: There is no such device.
        """
        return cls(run, folder, max_length, load_model(folder / "checkpoint", device, precision))

    @property
    def grid(self) -> ComponentGrid:
        """The model's components by index."""
        return self.full.grid

    @property
    def labels(self) -> tuple[str, ...]:
        """The class names, in the order of the probabilities."""
        return self.full.labels

    @property
    def kept(self) -> list[str]:
        """Names of the components that are left, as "1.0" or "mlp 1"."""
        return [component.name for component in self.grid if component.index not in self.removed]

    def apply_subnetwork(self, subnetwork: Subnetwork) -> Classifier:
        """Return the classifier restricted to `subnetwork`. Raises InputError if its grid is another one."""
        return self._without(subnetwork.removed_from(self.grid))

    def ablate(self, components: Sequence[str]) -> Classifier:
        """Return it without further heads ("1.0") or MLPs ("mlp 1"). Raises InputError if a component is unknown."""
        numbers = {component.name: component.index for component in self.grid}
        if isinstance(components, str):
            raise InputError(f"components = {components!r}: give a list of names, as [{components!r}]")
        if unknown := [name for name in components if name not in numbers]:
            heads = f"heads 0.0 to {self.grid.layers - 1}.{self.grid.heads - 1}"
            raise InputError(
                f"no component {unknown[0]!r}; there are {heads}, and mlp 0 to mlp {self.grid.layers - 1}, as text"
            )
        return self._without(numbers[name] for name in components)

    def predict(self, pairs: Sequence[Pair]) -> pd.DataFrame:
        """One row per pair: sentence1, sentence2, prediction (a class name), and the probability of every class, 0-1.

        Warns of words that the model does not know. Raises InputError where `pairs` are no pairs of sentences.
        """
        import pandas as pd

        pairs = list(pairs)
        encoded = to_encoded(self._encoded(pairs))
        logits = subnetwork_logits(
            self.full, PairTensors(encoded, self.full.pad, self.full.device), self.removed, self._means()
        )
        classes = [self.labels[number] for number in logits.argmax(-1).tolist()]
        frame = pd.DataFrame(pairs, columns=["sentence1", "sentence2"]).assign(prediction=classes)
        return frame.join(pd.DataFrame(logits.double().softmax(-1).numpy(), columns=list(self.labels)))

    def attention(self, sentence1: str, sentence2: str) -> pd.DataFrame:
        """Return the attention of every remaining head, in columns of table `attention_maps`.

        One row per head, query token and key token; probabilities, 0-1, sum to 1 over key tokens.
        """
        mask = Mask(gates_without(self.removed, self.grid).to(self.full.device), self._means(), self.grid)
        table = map_table(self.run, self.full, self._encoded([(sentence1, sentence2)]), mask if self.removed else None)
        frame = as_frame(table.drop_columns([*self.run._fields[:5], "pair"]))
        return frame[~frame["component"].isin(self.removed)].reset_index(drop=True)

    def _without(self, more: Iterable[int]) -> Classifier:
        return replace(self, removed=tuple(sorted({*self.removed, *more})))

    def _means(self) -> ComponentMeans:
        """Return the outputs of removed components; zeros for a full model, which has none."""
        if not self.removed:
            return zero_means(self.full)
        return ComponentMeans.load(self.folder / "means.safetensors").to(self.full)

    def _encoded(self, pairs: Sequence[Pair]) -> list[WordPair]:
        wrong = [pair for pair in pairs if not _is_pair(pair)]
        if wrong or not pairs:
            raise InputError(
                f"pairs: {wrong[0] if wrong else pairs!r} is no pair of sentences; give a list of them, as "
                "[('premise', 'hypothesis')]"
            )
        folder = self.folder / "checkpoint"
        encoded = encode_word_pairs(folder, pairs, self.max_length)
        if unknown := find_unknown_words(folder, encoded):
            warnings.warn(
                f"the model does not know {', '.join(unknown)}, and takes all of these for the same word", stacklevel=3
            )
        return encoded


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
