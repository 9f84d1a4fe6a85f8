"""How many pairs a study has, and of how many tokens.

Counted where they are encoded. Before, files are counted where they are there, and their words tell the tokens; what is
not there is assumed, by pairs.yaml.
"""

import json
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import yaml

from heuristic_core.common.errors import InputError
from heuristic_core.config.tasks import FilesTask, GeneratedTask, Split
from heuristic_core.experiments.heuristic_core.config import Study
from heuristic_core.experiments.heuristic_core.config.paths import Layout

SPECIAL, PIECES = 3, 1.2  # special tokens of a pair, and word pieces of a word: MiniLM's on MNLI; on HANS 1.13


class Pairs(NamedTuple):
    """tokens: of all pairs together."""

    pairs: int
    tokens: float

    @property
    def mean(self) -> float:
        return self.tokens / self.pairs


class StudyPairs(NamedTuple):
    """subsets: how many the evaluation pairs form. largest: pairs of the largest one. in_domain: of each ID subset.

    counted: from the study's encoded pairs; otherwise lengths are estimates, and so are the counts of `assumed`, files
    that are not there.
    """

    train: Pairs
    evaluation: Pairs
    subsets: int
    largest: int
    counted: bool
    assumed: tuple[str, ...] = ()
    in_domain: tuple[int, ...] = ()


class _Found(NamedTuple):
    """One split: pairs of each of its subsets, tokens of a pair."""

    sizes: list[int]
    tokens: float

    def sampled(self, limit: int | None) -> "_Found":
        """At most `limit` pairs of each subset; None for all."""
        return self._replace(sizes=[min(size, limit or size) for size in self.sizes])


def pairs_of(study: Study, read: bool = True) -> StudyPairs:
    """The pairs of a study. Raises InputError where nothing is known of a file, or it is there but cannot be read.

    read: count files that are there. Otherwise no file is opened but the encoded pairs', and none need be known.
    """
    folder = Path(Layout.of(study).data) / "encoded"
    files = [folder / f"{name}.safetensors" for name in ("train", "evaluation")]
    if all(file.is_file() for file in files) and (counts := _counts(files)):
        (train, *_), (evaluation, sizes, in_domain) = counts
        return StudyPairs(train, evaluation, len(sizes), max(sizes), counted=True, in_domain=in_domain)
    known = yaml.safe_load(resources.files(__package__).joinpath("pairs.yaml").read_text())
    if isinstance(study.task, GeneratedTask):
        return _generated(study.task, known)
    return _files(study.task, known, read)


def _counts(files: list[Path]) -> list[tuple[Pairs, list[int], tuple[int, ...]]] | None:
    """Of each encoded set; None where one is damaged, which the job that reads it tells."""
    from safetensors import SafetensorError

    try:
        return [_count(file) for file in files]
    except (SafetensorError, KeyError, TypeError, ValueError):
        return None


def _count(file: Path) -> tuple[Pairs, list[int], tuple[int, ...]]:
    """Pairs of an encoded set, of each of its subsets, and of those in-domain, without reading its tokens."""
    from safetensors import safe_open

    with safe_open(file, "numpy") as arrays:
        offsets = arrays.get_slice("offsets")
        count = offsets.get_shape()[0] - 1
        subsets = json.loads(arrays.metadata()["about"])["subsets"]
        sizes = [one["stop"] - one["start"] for one in subsets]
        in_domain = tuple(size for one, size in zip(subsets, sizes, strict=True) if one["group"] == "id")
        return Pairs(count, int(offsets[count : count + 1][0])), sizes, in_domain


def _generated(task: GeneratedTask, known: dict) -> StudyPairs:
    from heuristic_core.tasks.language import SUBSETS

    tokens = known["generated"]["tokens"]
    sizes = [task.id_pairs, *[task.pairs_per_subcase] * (len(SUBSETS) - 1)]
    train, evaluation = (_together([_Found(one, tokens)]) for one in ([task.train_pairs], sizes))
    return StudyPairs(train, evaluation, len(SUBSETS), max(sizes), counted=False, in_domain=(task.id_pairs,))


def _files(task: FilesTask, known: dict, read: bool) -> StudyPairs:
    assumed: dict[str, None] = {}

    def found(key: str, split: Split, limit: int | None) -> _Found:
        one = _in_files(task, split) if read else None
        if one is None:
            assumed[split.source] = None
            one = _assumed(key, split, limit if read else limit or known["pairs"][key.split(".")[1]], known)
        return one._replace(tokens=min(one.tokens, task.max_length))

    train = _together([found(f"task.train.{k}", split, task.train_pairs) for k, split in enumerate(task.train)])
    used = min(train.pairs, task.train_pairs or train.pairs)
    sets = [
        found(f"task.evaluation.{name}", split, split.pairs).sampled(split.pairs)
        for name, split in task.evaluation.items()
    ]
    sizes = [size for one in sets for size in one.sizes]
    splits = zip(task.evaluation.values(), sets, strict=True)
    in_domain = tuple(size for split, one in splits if split.group == "id" for size in one.sizes)
    about = {"subsets": len(sizes), "largest": max(sizes), "counted": False, "assumed": tuple(assumed)}
    about |= {"in_domain": in_domain}
    return StudyPairs(Pairs(used, used * train.mean), _together(sets), **about)


def _together(sets: Sequence[_Found]) -> Pairs:
    counts = [sum(one.sizes) for one in sets]
    return Pairs(sum(counts), sum(count * one.tokens for count, one in zip(counts, sets, strict=True)))


def _in_files(task: FilesTask, split: Split) -> _Found | None:
    """A split whose files are there; None where they are not. Raises InputError where no row of them can be used."""
    from heuristic_core.tasks.rows import read_rows, split_paths

    try:
        split_paths(task, split)
    except InputError:
        return None
    labels, only = split.labels or task.labels, _only_label(split)
    read, _ = read_rows(task, split, labels)
    rows = [row for row in read if row.used and only in (None, labels[row.label])]
    if not rows:
        labelled = any(row.label is not None and only in (None, labels[row.label]) for row in read)
        lacking = "two sentences" if labelled else f"the label {only!r}" if only else "a label"
        raise InputError(f"{split.source}: none of {len(read)} rows has {lacking}")
    sizes = Counter(row.subset for row in rows)
    return _Found(list(sizes.values()), SPECIAL + PIECES * _words([row.sentences for row in rows]))


def _words(pairs: Sequence[tuple[str, str]]) -> float:
    """Mean words of a pair."""
    return sum(len(sentence.split()) for pair in pairs for sentence in pair) / len(pairs)


def _assumed(key: str, split: Split, limit: int | None, known: dict) -> _Found:
    """A split whose files are not there. limit: how many of its pairs are used at most."""
    one = known["files"].get(split.file if split.folder else split.source)
    if one is None and limit is None:
        raise InputError(
            f"{key}: {split.source} is not there, and nothing is known of how many pairs it has; put it there "
            "(`make fetch` for what comes from the hub), then plan"
        )
    one = one or {"pairs": limit, "tokens": known["tokens"]}
    pairs, subsets = one.get("labels", {}).get(_only_label(split), one["pairs"]), one.get("subsets", 1)
    return _Found([pairs // subsets] * subsets, one["tokens"])


def _only_label(split: Split) -> str | None:
    return getattr(split, "only_label", None)
