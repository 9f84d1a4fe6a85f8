"""Encoded sentence pairs: flat token arrays with offsets, in one safetensors file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from heuristic_core.common.atomic import write_bytes
from heuristic_core.common.errors import InputError
from heuristic_core.tasks.sampling import of_subset

Count = int | Mapping[str, int | None] | None  # of pairs of a subset, for all of them or by group
ARRAYS = ("ids", "types", "special", "offsets", "labels", "template")


@dataclass(frozen=True)
class Subset:
    """A named evaluation set: pairs `start` to `stop` of the encoded set.

    group: id, ood or ood-entailment. family: of the heuristic, or None.
    merge: for each class of the model, the label of this subset that it counts as (first argmax, then merge).
    """

    name: str
    group: str
    family: str | None
    merge: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class Encoded:
    """`n` pairs. ids: int32 [tokens]. types: uint8 [tokens]. offsets: int64 [n + 1]. labels: int64 [n].

    special: uint8 [tokens], 1 on classifier, separator and other special tokens. template: int32 [n], of which of
    `templates` a pair was made, -1 where that is unknown. subsets: consecutive slices that cover the set; empty for
    training sets.
    """

    ids: np.ndarray
    types: np.ndarray
    special: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray
    template: np.ndarray
    templates: tuple[str, ...] = ()
    subsets: tuple[Subset, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> np.ndarray:
        """int64 [n]: tokens of each pair, special ones included."""
        return np.diff(self.offsets)

    def padded(self, pad: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """ids int32 and types uint8, both [n, longest]; beyond each pair's end are `pad` and 0."""
        longest = int(self.lengths.max())
        inside = np.arange(longest) < self.lengths[:, None]
        ids, types = np.full(inside.shape, pad, np.int32), np.zeros(inside.shape, np.uint8)
        ids[inside], types[inside] = self.ids, self.types
        return ids, types

    def first(self, count: int | None) -> "Encoded":
        """The first `count` pairs (None: all), without subsets. Raises InputError where there are fewer."""
        count = len(self) if count is None else count
        if count > len(self):
            raise InputError(
                f"prune.examples (with held_out) or mean_examples = {count}, but there are {len(self)} training pairs"
            )
        return self.part(0, count)

    def part(self, start: int, stop: int) -> "Encoded":
        """Pairs `start` to `stop`, without subsets."""
        first, end = self.offsets[start], self.offsets[stop]
        flat = (array[first:end] for array in (self.ids, self.types, self.special))
        offsets = self.offsets[start : stop + 1] - first
        return Encoded(*flat, offsets, self.labels[start:stop], self.template[start:stop], self.templates)

    def group(self, name: str) -> "Encoded":
        """The pairs of all subsets of group `name`, without subsets."""
        return self.take(np.concatenate([np.arange(s.start, s.stop) for s in self.subsets if s.group == name]))

    def thinned(self, count: Count, skip: Count = None, seed: int = 0) -> "Encoded":
        """Of every subset, at most `count` pairs, drawn as :func:`of_subset` does; all for None.

        A mapping has the count of each group. seed: ``analysis.seed``. skip: none of the pairs that are drawn where
        this is the count; a subset of which that leaves none skips none.
        """
        if count is None and skip is None:
            return self
        subsets, start, places = [], 0, []
        for s in self.subsets:
            limit, before = (one[s.group] if isinstance(one, Mapping) else one for one in (count, skip))
            places.append(s.start + of_subset(self.labels[s.start : s.stop], s.name, limit, seed, before))
            subsets.append(replace(s, start=start, stop=start + len(places[-1])))
            start += len(places[-1])
        return self.take(np.concatenate(places), tuple(subsets))

    def take(self, pairs: np.ndarray, subsets: tuple[Subset, ...] = ()) -> "Encoded":
        """The pairs at `pairs` (int64 [m]), in this order; one may occur again."""
        parts = [self.split(flat) for flat in (self.ids, self.types, self.special)]
        fields = [np.concatenate([part[i] for i in pairs]) for part in parts]
        offsets = np.cumsum([0, *self.lengths[pairs]], dtype=np.int64)
        return Encoded(*fields, offsets, self.labels[pairs], self.template[pairs], self.templates, subsets)

    def template_names(self) -> np.ndarray:
        """The name of each pair's template, object [n]; None where it is unknown."""
        return np.array([*self.templates, None], dtype=object)[self.template]  # -1 is the last

    def split(self, flat: np.ndarray) -> list[np.ndarray]:
        """A flat array, cut into one part per pair."""
        return np.split(flat, self.offsets[1:-1])

    def save(self, path: str | Path) -> None:
        from safetensors.numpy import save

        arrays = {name: np.ascontiguousarray(getattr(self, name)) for name in ARRAYS}
        about = {"subsets": [asdict(s) for s in self.subsets], "templates": self.templates}
        write_bytes(path, save(arrays, {"about": json.dumps(about)}))  # one key: several are written in any order

    @classmethod
    def load(cls, path: str | Path) -> "Encoded":
        from safetensors import safe_open

        with safe_open(path, "numpy") as file:
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
            about = json.loads(file.metadata()["about"])
        subsets = tuple(Subset(**{**s, "merge": tuple(s["merge"])}) for s in about["subsets"])
        return cls(**arrays, templates=tuple(about["templates"]), subsets=subsets)


def from_lists(
    ids: Sequence[Sequence[int]],
    types: Sequence[Sequence[int]],
    special: Sequence[Sequence[int]],
    labels: Sequence[int],
    subsets: tuple[Subset, ...] = (),
    templates: Sequence[str | None] | None = None,
) -> Encoded:
    """Pack one list per pair into flat arrays. templates: the name of each pair's template; default: unknown."""

    def flat(rows, kind):
        return np.fromiter((x for row in rows for x in row), kind)

    offsets = np.cumsum([0, *map(len, ids)], dtype=np.int64)
    labels = np.asarray(labels, np.int64)
    templates = [None] * len(labels) if templates is None else templates
    names = tuple(dict.fromkeys(name for name in templates if name is not None))
    number = {name: k for k, name in enumerate(names)}
    template = np.array([number.get(name, -1) for name in templates], np.int32)
    tokens = flat(ids, np.int32), flat(types, np.uint8), flat(special, np.uint8)
    return Encoded(*tokens, offsets, labels, template, names, subsets)


def token_types(sentences: Sequence[int | None]) -> list[int]:
    """0 or 1 for each token: the sentence it belongs to; a special token (None) goes with what is before it.

    These are BERT's token types. Tokenizers of other families give none, but attention is told apart by them too.
    """
    types, current = [], 0
    for sentence in sentences:
        current = current if sentence is None else sentence
        types.append(current)
    return types
