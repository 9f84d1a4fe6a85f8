"""Encoded sentence pairs: flat token arrays with offsets, in one safetensors file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from heuristic_core.common.atomic import write_bytes
from heuristic_core.common.errors import InputError
from heuristic_core.data.sampling import sample_subset

PairLimit = int | Mapping[str, int | None] | None  # number of pairs of each subset, common or by group; None: all
ARRAYS = ("ids", "types", "special", "offsets", "labels", "template")


@dataclass(frozen=True)
class Subset:
    """A named evaluation set: pairs `start` to `stop` of an encoded set.

    Attributes:
        name: of the subset.
        group: id, ood or ood-entailment.
        family: of the heuristic, or None.
        merge: for each class of the model, the label of this subset that it counts as (first argmax, then merge).
        start: position of the first pair.
        stop: position after the last pair.
    """

    name: str
    group: str
    family: str | None
    merge: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class Encoded:
    """A set of `n` encoded pairs.

    Attributes:
        ids: int32 [tokens].
        types: uint8 [tokens], sentence of each token, 0 or 1.
        special: uint8 [tokens], 1 on classifier, separator and other special tokens.
        offsets: int64 [n + 1], first token of each pair, and the number of tokens.
        labels: int64 [n].
        template: int32 [n], index into `templates`; -1 if unknown.
        templates: names of templates.
        subsets: consecutive slices that cover the set; empty for training sets.
        target: int32 [n], position of the token that is classified; None for the model's usual one, the first or last.
    """

    ids: np.ndarray
    types: np.ndarray
    special: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray
    template: np.ndarray
    templates: tuple[str, ...] = ()
    subsets: tuple[Subset, ...] = ()
    target: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each pair, including special tokens, int64 [n]."""
        return np.diff(self.offsets)

    def pad_to_longest(self, pad: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return ids (int32) and types (uint8), both [n, longest], padded with `pad` and 0."""
        longest = int(self.lengths.max())
        is_token = np.arange(longest) < self.lengths[:, None]
        ids, types = np.full(is_token.shape, pad, np.int32), np.zeros(is_token.shape, np.uint8)
        ids[is_token], types[is_token] = self.ids, self.types
        return ids, types

    def head(self, count: int | None) -> "Encoded":
        """Return the first `count` pairs (None: all), without subsets; raise InputError if there are fewer."""
        count = len(self) if count is None else count
        if count > len(self):
            raise InputError(
                f"prune.examples (with held_out) or mean_examples = {count}, but there are {len(self)} training pairs"
            )
        return self.slice_pairs(0, count)

    def slice_pairs(self, start: int, stop: int) -> "Encoded":
        """Return a range of pairs, without subsets.

        Args:
            start: Index of the first pair.
            stop: Index after the last pair.
        """
        first, end = self.offsets[start], self.offsets[stop]
        flat = (array[first:end] for array in (self.ids, self.types, self.special))
        offsets = self.offsets[start : stop + 1] - first
        target = None if self.target is None else self.target[start:stop]
        return Encoded(
            *flat, offsets, self.labels[start:stop], self.template[start:stop], self.templates, target=target
        )

    def subsample(self, count: PairLimit, skip: PairLimit = None, seed: int = 0) -> "Encoded":
        """Draw a sample of each subset with :func:`~heuristic_core.data.sampling.sample_subset`.

        Args:
            count: maximum number of pairs of a subset, common or by group; None: all.
            skip: exclude the pairs drawn with `count` = `skip`, unless that excludes a whole subset.
            seed: ``analysis.seed``.
        """
        if count is None and skip is None:
            return self
        subsets, start, positions = [], 0, []
        for subset in self.subsets:
            limit, skipped = (n[subset.group] if isinstance(n, Mapping) else n for n in (count, skip))
            positions.append(
                subset.start + sample_subset(self.labels[subset.start : subset.stop], subset.name, limit, seed, skipped)
            )
            subsets.append(replace(subset, start=start, stop=start + len(positions[-1])))
            start += len(positions[-1])
        return self.take(np.concatenate(positions), tuple(subsets))

    def take(self, pairs: np.ndarray, subsets: tuple[Subset, ...] = ()) -> "Encoded":
        """Return the pairs at the positions `pairs`, int64 [m], in this order.

        Args:
            pairs: Positions; repetitions are allowed.
            subsets: Subsets of the result.
        """
        parts = [self.split_by_pair(flat) for flat in (self.ids, self.types, self.special)]
        fields = [np.concatenate([part[i] for i in pairs]) for part in parts]
        offsets = np.cumsum([0, *self.lengths[pairs]], dtype=np.int64)
        target = None if self.target is None else self.target[pairs]
        return Encoded(*fields, offsets, self.labels[pairs], self.template[pairs], self.templates, subsets, target)

    def get_template_names(self) -> np.ndarray:
        """Return the name of each pair's template, object [n]; None if unknown."""
        return np.array([*self.templates, None], dtype=object)[self.template]  # -1: None, the last

    def split_by_pair(self, flat: np.ndarray) -> list[np.ndarray]:
        """Split an array [tokens] into one part per pair."""
        return np.split(flat, self.offsets[1:-1])

    def save(self, path: str | Path) -> None:
        """Write the set to a safetensors file."""
        from safetensors.numpy import save

        names = ARRAYS if self.target is None else (*ARRAYS, "target")
        arrays = {name: np.ascontiguousarray(getattr(self, name)) for name in names}
        metadata = {"subsets": [asdict(subset) for subset in self.subsets], "templates": self.templates}
        write_bytes(
            path, save(arrays, {"about": json.dumps(metadata)})
        )  # a single key, because the order of several varies

    @classmethod
    def load(cls, path: str | Path) -> "Encoded":
        """Read a set from a safetensors file."""
        from safetensors import safe_open

        with safe_open(path, "numpy") as file:
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
            metadata = json.loads(file.metadata()["about"])
        subsets = tuple(Subset(**{**subset, "merge": tuple(subset["merge"])}) for subset in metadata["subsets"])
        return cls(**arrays, templates=tuple(metadata["templates"]), subsets=subsets)


def pack_lists(
    ids: Sequence[Sequence[int]],
    types: Sequence[Sequence[int]],
    special: Sequence[Sequence[int]],
    labels: Sequence[int],
    subsets: tuple[Subset, ...] = (),
    templates: Sequence[str | None] | None = None,
    target: Sequence[int] | None = None,
) -> Encoded:
    """Pack one list per pair into flat arrays.

    Args:
        ids: token ids of each pair.
        types: token types of each pair.
        special: 1 on special tokens, of each pair.
        labels: label of each pair.
        subsets: of an evaluation set.
        templates: name of each pair's template; default: unknown.
        target: position of the classified token of each pair; default: the model's usual one.
    """

    def flat(rows, dtype):
        return np.fromiter((x for row in rows for x in row), dtype)

    offsets = np.cumsum([0, *map(len, ids)], dtype=np.int64)
    labels = np.asarray(labels, np.int64)
    templates = [None] * len(labels) if templates is None else templates
    names = tuple(dict.fromkeys(name for name in templates if name is not None))
    index = {name: i for i, name in enumerate(names)}
    template = np.array([index.get(name, -1) for name in templates], np.int32)
    tokens = flat(ids, np.int32), flat(types, np.uint8), flat(special, np.uint8)
    target = None if target is None else np.asarray(target, np.int32)
    return Encoded(*tokens, offsets, labels, template, names, subsets, target)


def get_token_types(sentences: Sequence[int | None]) -> list[int]:
    """Return BERT's token types: the sentence of each token; special tokens (None) belong to the sentence before.

    Tokenizers of other families provide none, but the analysis of attention needs them.
    """
    types, current = [], 0
    for sentence in sentences:
        current = current if sentence is None else sentence
        types.append(current)
    return types
