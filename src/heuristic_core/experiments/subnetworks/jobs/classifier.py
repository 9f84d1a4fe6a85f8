"""A fine-tuned model, or a part of it, that classifies pairs of sentences or single sentences."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heuristic_core.common.errors import InputError, format_count
from heuristic_core.data.encode import encode
from heuristic_core.data.pairs import make_row
from heuristic_core.data.targets import find_target
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
Example = str | Pair
_EXPECTED_PAIRS = "a pair of sentences; pass a list of pairs, as [('premise', 'hypothesis')]"


@dataclass(frozen=True)
class Classifier:
    """A fine-tuned model in which removed components output their means.

    Attributes:
        run: Identity of the checkpoint.
        folder: Folder with `checkpoint/` and `means.safetensors`.
        max_length: Maximum number of tokens of a pair; longer pairs are truncated, as in the study.
        sentence_count: Number of sentences of the study's examples, 1 or 2.
        has_target: Whether the study classifies a word of each sentence.
        full: The full model.
        removed: Indices of removed components, ascending.
    """

    run: Identity
    folder: Path
    max_length: int
    sentence_count: int
    has_target: bool
    full: Model = field(repr=False)
    removed: tuple[int, ...] = ()

    @classmethod
    def load(
        cls,
        run: Identity,
        folder: Path,
        max_length: int,
        sentence_count: int,
        has_target: bool,
        device: str,
        precision: str,
    ) -> Classifier:
        """Load the full model.

        Args:
            run: Identity of the checkpoint.
            folder: Folder with `checkpoint/` and `means.safetensors`.
            max_length: Maximum number of tokens of a pair; longer pairs are truncated.
            sentence_count: Number of sentences of the study's examples, 1 or 2.
            has_target: Whether the study classifies a word of each sentence.
            device: "cpu" or "cuda".
            precision: "float32", "bfloat16", "float16" or "auto", which chooses one of the first two by device.

        Raises:
            InputError: If the device is unavailable.
        """
        full = load_model(folder / "checkpoint", device, precision)
        return cls(run, folder, max_length, sentence_count, has_target, full)

    @property
    def grid(self) -> ComponentGrid:
        """Grid of the model's components."""
        return self.full.grid

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes, in the order of the probabilities."""
        return self.full.labels

    @property
    def kept(self) -> list[str]:
        """Names of the remaining components, such as "1.0" or "mlp 1"."""
        return [component.name for component in self.grid if component.index not in self.removed]

    def apply_subnetwork(self, subnetwork: Subnetwork) -> Classifier:
        """Return the classifier restricted to a subnetwork.

        Raises:
            InputError: If the subnetwork has another grid of components.
        """
        return self._remove(subnetwork.list_removed(self.grid))

    def ablate(self, components: Sequence[str]) -> Classifier:
        """Return the classifier without further components.

        Args:
            components: Names of heads ("1.0") or MLPs ("mlp 1").

        Raises:
            InputError: If a component is unknown.
        """
        numbers = {component.name: component.index for component in self.grid}
        if isinstance(components, str):
            raise InputError(f"components = {components!r} must be a list of names, such as [{components!r}]")
        if unknown := [name for name in components if name not in numbers]:
            heads = f"heads 0.0 to {self.grid.layers - 1}.{self.grid.heads - 1}"
            raise InputError(
                f"unknown component {unknown[0]!r}; choose from {heads}, and mlp 0 to mlp {self.grid.layers - 1} (text)"
            )
        return self._remove(numbers[name] for name in components)

    def predict(self, pairs: Sequence[Example], targets: Sequence | None = None) -> pd.DataFrame:
        """Predict the class of pairs of sentences, or of single sentences.

        Words that the model does not know give a warning.

        Args:
            pairs: Pairs of sentences; texts, if the task has single sentences.
            targets: The classified word of each sentence, as in files: the word, its index or its characters; None for
                a task without targets.

        Returns:
            One row per pair: sentence1, sentence2 (null for a single sentence), prediction (name of a class), and the
            probability of each class.

        Raises:
            InputError: If `pairs` is empty, an entry is not a pair of sentences (a text, if the task has single
                sentences), or `targets` do not fit them.
        """
        import pandas as pd

        pairs = list(pairs)
        words = self._encode(pairs)
        encoded = replace(to_encoded(words), target=self._locate_targets(pairs, targets))
        logits = subnetwork_logits(
            self.full, PairTensors(encoded, self.full.pad, self.full.device), self.removed, self._means()
        )
        classes = [self.labels[number] for number in logits.argmax(-1).tolist()]
        rows = [(*self._split(pair), None)[:2] for pair in pairs]
        frame = pd.DataFrame(rows, columns=["sentence1", "sentence2"]).assign(prediction=classes)
        return frame.join(pd.DataFrame(logits.double().softmax(-1).numpy(), columns=list(self.labels)))

    def attention(self, sentence1: str, sentence2: str | None = None) -> pd.DataFrame:
        """Return the attention of every remaining head, in columns of table `attention_maps`.

        There is one row per head, query token and key token. Probabilities sum to 1 over key tokens.

        Args:
            sentence1: The premise, or first sentence.
            sentence2: The hypothesis, or second sentence; None for a single sentence.
        """
        example = sentence1 if sentence2 is None else (sentence1, sentence2)
        mask = Mask(gates_without(self.removed, self.grid).to(self.full.device), self._means(), self.grid)
        table = map_table(self.run, self.full, self._encode([example]), mask if self.removed else None)
        frame = as_frame(table.drop_columns([*self.run._fields[:5], "pair"]))
        return frame[~frame["component"].isin(self.removed)].reset_index(drop=True)

    def _remove(self, components: Iterable[int]) -> Classifier:
        """Return the classifier without further component indices."""
        return replace(self, removed=tuple(sorted({*self.removed, *components})))

    def _split(self, example: object) -> tuple[str, ...]:
        """Return the sentences of an example of the study's kind; empty if it is of no such kind."""
        parts = (example,) if self.sentence_count == 1 else example
        is_kind = isinstance(parts, list | tuple) and len(parts) == self.sentence_count
        return tuple(parts) if is_kind and all(isinstance(part, str) for part in parts) else ()

    def _locate_targets(self, sentences: Sequence[str], targets: Sequence | None) -> np.ndarray | None:
        """Return the positions of the tokens that are classified; None for the model's usual one."""
        if (targets is None) == self.has_target or (targets is not None and len(targets) != len(sentences)):
            provided_targets = "no targets" if targets is None else format_count(len(targets), "target")
            no_targets_reason = "the study classifies whole sentences"
            needed = (
                f"each of the {format_count(len(sentences), 'sentence')} needs one"
                if self.has_target
                else no_targets_reason
            )
            raise InputError(f"targets: {provided_targets} provided, but {needed}")
        if targets is None:
            return None
        from heuristic_core.models.hugging_face import load_tokenizer

        rows = []
        for sentence, target in zip(sentences, targets, strict=True):
            try:
                rows.append(make_row("", None, None, None, [sentence], 0, find_target(target, sentence)))
            except ValueError as error:
                raise InputError(f"targets: {target!r} {error}") from None
        return encode(rows, load_tokenizer(self.folder / "checkpoint"), self.max_length).target

    def _means(self) -> ComponentMeans:
        """Return the outputs of removed components; zeros for a full model, which has none."""
        if not self.removed:
            return zero_means(self.full)
        return ComponentMeans.load(self.folder / "means.safetensors").to(self.full)

    def _encode(self, pairs: Sequence[Example]) -> list[WordPair]:
        """Encode pairs, and warn of unknown words."""
        invalid = [pair for pair in pairs if not self._split(pair)]
        if invalid or not pairs:
            expected = "a sentence; pass a list of texts" if self.sentence_count == 1 else _EXPECTED_PAIRS
            raise InputError(f"pairs: {invalid[0] if invalid else pairs!r} is not {expected}")
        folder = self.folder / "checkpoint"
        encoded = encode_word_pairs(folder, list(map(self._split, pairs)), self.max_length)
        if unknown := find_unknown_words(folder, encoded):
            warnings.warn(
                f"the model does not know {', '.join(unknown)} and cannot tell these words apart", stacklevel=3
            )
        return encoded
