"""Numbers of pairs and tokens of a study.

Encoded pairs are counted. Before encoding, rows of existing files are counted and tokens estimated from their words;
missing files are assumed to be as in pairs.yaml.
"""

import json
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import yaml

from heuristic_core.common.errors import InputError
from heuristic_core.config.generated import GeneratedTask
from heuristic_core.config.splits import Split
from heuristic_core.config.tasks import FilesTask
from heuristic_core.experiments.subnetworks.config import Study
from heuristic_core.experiments.subnetworks.config.paths import Layout

SPECIAL_TOKENS, PIECES_PER_WORD = 3, 1.2  # of a pair, measured for MiniLM on MNLI; on HANS 1.13 pieces per word


class Pairs(NamedTuple):
    """Size of a set of pairs.

    Attributes:
        pairs: Number of pairs.
        tokens: Tokens of all pairs together.
    """

    pairs: int
    tokens: float

    @property
    def mean(self) -> float:
        """Mean number of tokens of a pair."""
        return self.tokens / self.pairs


class StudyPairs(NamedTuple):
    """Sizes of the sets of a study.

    Attributes:
        train: Training pairs.
        evaluation: Evaluation pairs.
        subsets: Number of evaluation subsets.
        largest_subset: Pairs of the largest subset.
        counted: Whether the encoded pairs were counted; otherwise tokens are estimates.
        assumed_files: Missing files, whose counts are assumptions.
        in_domain_sizes: Pairs of each in-domain subset.
    """

    train: Pairs
    evaluation: Pairs
    subsets: int
    largest_subset: int
    counted: bool
    assumed_files: tuple[str, ...] = ()
    in_domain_sizes: tuple[int, ...] = ()


class _SplitPairs(NamedTuple):
    """Size of one split.

    Attributes:
        sizes: Pairs of each subset.
        tokens: Mean tokens of a pair.
    """

    sizes: list[int]
    tokens: float

    def sampled(self, limit: int | None) -> "_SplitPairs":
        """Return the size with at most `limit` pairs of each subset; None for all."""
        return self._replace(sizes=[min(size, limit or size) for size in self.sizes])


def count_pairs(study: Study, read: bool = True) -> StudyPairs:
    """Return the sizes of the sets of a study.

    Args:
        study: The study.
        read: Whether to count rows of source files; otherwise only encoded pairs are read.

    Raises:
        InputError: If a file is missing and unknown, or cannot be read.
    """
    folder = Path(Layout.from_study(study).data) / "encoded"
    files = [folder / f"{name}.safetensors" for name in ("train", "evaluation")]
    if all(file.is_file() for file in files) and (counts := _encoded_counts(files)):
        (train, *_), (evaluation, sizes, in_domain) = counts
        return StudyPairs(train, evaluation, len(sizes), max(sizes), counted=True, in_domain_sizes=in_domain)
    known = yaml.safe_load(resources.files(__package__).joinpath("pairs.yaml").read_text())
    if isinstance(study.task, GeneratedTask):
        return _generated_pairs(study.task, known)
    return _file_pairs(study.task, known, read)


def _encoded_counts(files: list[Path]) -> list[tuple[Pairs, list[int], tuple[int, ...]]] | None:
    """Return the counts of each encoded set; None if one is damaged, which the job that reads it reports."""
    from safetensors import SafetensorError

    try:
        return [_encoded_count(file) for file in files]
    except (SafetensorError, KeyError, TypeError, ValueError):
        return None


def _encoded_count(file: Path) -> tuple[Pairs, list[int], tuple[int, ...]]:
    """Return the size of an encoded set, pairs of each subset and of each in-domain one, without reading tokens."""
    from safetensors import safe_open

    with safe_open(file, "numpy") as arrays:
        offsets = arrays.get_slice("offsets")
        count = offsets.get_shape()[0] - 1
        subsets = json.loads(arrays.metadata()["about"])["subsets"]
        sizes = [subset["stop"] - subset["start"] for subset in subsets]
        in_domain = tuple(size for subset, size in zip(subsets, sizes, strict=True) if subset["group"] == "id")
        return Pairs(count, int(offsets[count : count + 1][0])), sizes, in_domain


def _generated_pairs(task: GeneratedTask, known: dict) -> StudyPairs:
    """Return the sizes of generated sets."""
    tokens, subsets = known["generated"][task.language], task.subsets
    sizes = [task.id_pairs, *[task.pairs_per_subcase] * (len(subsets) - 1)]
    train, evaluation = (_sum_pairs([_SplitPairs(split_sizes, tokens)]) for split_sizes in ([task.train_pairs], sizes))
    return StudyPairs(train, evaluation, len(subsets), max(sizes), counted=False, in_domain_sizes=(task.id_pairs,))


def _file_pairs(task: FilesTask, known: dict, read: bool) -> StudyPairs:
    """Return the sizes of sets from files."""
    assumed: dict[str, None] = {}

    def measure(key: str, split: Split, limit: int | None) -> _SplitPairs:
        size = _count_files(task, split) if read else None
        if size is None:
            assumed[split.source] = None
            size = _assume_pairs(key, split, limit if read else limit or known["pairs"][key.split(".")[1]], known)
        return size._replace(tokens=min(size.tokens, task.max_length))

    train = _sum_pairs(
        [
            measure(f"task.train.{k}", split, split.pairs or task.train_pairs).sampled(split.pairs)
            for k, split in enumerate(task.train)
        ]
    )
    used_pairs = min(train.pairs, task.train_pairs or train.pairs)
    sets = [
        measure(f"task.evaluation.{name}", split, split.pairs).sampled(split.pairs)
        for name, split in task.evaluation.items()
    ]
    sizes = [size for split_pairs in sets for size in split_pairs.sizes]
    splits = zip(task.evaluation.values(), sets, strict=True)
    in_domain = tuple(size for split, pairs in splits if split.group == "id" for size in pairs.sizes)
    return StudyPairs(
        Pairs(used_pairs, used_pairs * train.mean),
        _sum_pairs(sets),
        subsets=len(sizes),
        largest_subset=max(sizes),
        counted=False,
        assumed_files=tuple(assumed),
        in_domain_sizes=in_domain,
    )


def _sum_pairs(sets: Sequence[_SplitPairs]) -> Pairs:
    """Return the size of all sets together."""
    counts = [sum(split.sizes) for split in sets]
    return Pairs(sum(counts), sum(count * split.tokens for count, split in zip(counts, sets, strict=True)))


def _count_files(task: FilesTask, split: Split) -> _SplitPairs | None:
    """Count the rows of a split; None if its files are missing.

    Raises:
        InputError: If no row can be used.
    """
    from heuristic_core.data.rows import read_rows
    from heuristic_core.data.split_files import find_split_paths

    try:
        find_split_paths(task, split)
    except InputError:
        return None
    labels, only = split.labels or task.labels, _only_label(split)
    all_rows, _ = read_rows(task, split, labels)
    rows = [row for row in all_rows if row.used and only in (None, labels[row.label])]
    if not rows:
        labelled = any(row.label is not None and only in (None, labels[row.label]) for row in all_rows)
        lacking = "a sentence in every column" if labelled else f"the label {only!r}" if only else "a label"
        raise InputError(f"{split.source}: none of {len(all_rows)} rows has {lacking}")
    sizes = Counter(row.subset for row in rows)
    return _SplitPairs(
        list(sizes.values()), SPECIAL_TOKENS + PIECES_PER_WORD * _mean_words([row.sentences for row in rows])
    )


def _mean_words(pairs: Sequence[tuple[str, ...]]) -> float:
    """Return the mean number of words of a pair or a sentence."""
    return sum(len(sentence.split()) for pair in pairs for sentence in pair) / len(pairs)


def _assume_pairs(key: str, split: Split, limit: int | None, known: dict) -> _SplitPairs:
    """Return the assumed size of a split with missing files, of which at most `limit` pairs are used."""
    entry = known["files"].get(split.source) or known["files"].get(split.file)  # HANS is found by its name alone
    if entry is None and limit is None:
        raise InputError(
            f"{key}: {split.source} is missing, and its number of pairs is unknown; add the file "
            "(`make fetch` for what comes from the hub), then plan"
        )
    entry = entry or {"pairs": limit, "tokens": known["tokens"]}
    pairs, subsets = entry.get("labels", {}).get(_only_label(split), entry["pairs"]), entry.get("subsets", 1)
    return _SplitPairs([pairs // subsets] * subsets, entry["tokens"])


def _only_label(split: Split) -> str | None:
    """Return the label that a split is restricted to, if any."""
    return getattr(split, "only_label", None)
