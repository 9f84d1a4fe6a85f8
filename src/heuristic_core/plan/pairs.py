"""How many pairs a study has, and of how many tokens: counted where they are encoded, assumed before."""

import json
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import yaml

from heuristic_core.config import Study
from heuristic_core.config.tasks import FilesTask, GeneratedTask
from heuristic_core.errors import InputError
from heuristic_core.layout import Layout


class Pairs(NamedTuple):
    """tokens: of all pairs together."""

    pairs: int
    tokens: int

    @property
    def mean(self) -> float:
        return self.tokens / self.pairs


class StudyPairs(NamedTuple):
    """subsets: of the evaluation pairs. counted: from the study's encoded pairs; otherwise assumed, from pairs.yaml."""

    train: Pairs
    evaluation: Pairs
    subsets: int
    counted: bool


def pairs_of(study: Study) -> StudyPairs:
    """The pairs of a study. Raises InputError where they are not encoded yet and its task is not in pairs.yaml."""
    folder = Path(Layout.of(study).data) / "encoded"
    files = [folder / f"{name}.safetensors" for name in ("train", "evaluation")]
    if all(file.is_file() for file in files):
        (train, _), (evaluation, subsets) = map(_count, files)
        return StudyPairs(train, evaluation, subsets, counted=True)
    known = yaml.safe_load(resources.files("heuristic_core.plan").joinpath("pairs.yaml").read_text())
    assumed = _generated if isinstance(study.task, GeneratedTask) else _files
    return StudyPairs(*assumed(study.task, known), counted=False)


def _count(file: Path) -> tuple[Pairs, int]:
    """Pairs and subsets of an encoded set, without reading its tokens."""
    from safetensors import safe_open

    with safe_open(file, "numpy") as arrays:
        offsets = arrays.get_slice("offsets")
        count = offsets.get_shape()[0] - 1
        subsets = len(json.loads(arrays.metadata()["about"])["subsets"])
        return Pairs(count, int(offsets[count : count + 1][0])), subsets


def _generated(task: GeneratedTask, known: dict) -> tuple[Pairs, Pairs, int]:
    from heuristic_core.tasks.language import SUBSETS

    evaluated = task.id_pairs + (len(SUBSETS) - 1) * task.pairs_per_subcase
    counts = {"train": task.train_pairs, "evaluation": evaluated}
    train, evaluation = (Pairs(n, n * known["generated"][name]["tokens"]) for name, n in counts.items())
    return train, evaluation, len(SUBSETS)


def _files(task: FilesTask, known: dict) -> tuple[Pairs, Pairs, int]:
    sets = known.get(task.name, {})
    if unknown := [name for name in ("train", *task.evaluation) if name not in sets]:
        raise InputError(
            f"task.name = {task.name!r}: nothing is known of its pairs {unknown[0]!r} before they are encoded; "
            "make the target `encode` of this study first, then plan"
        )
    train = task.train_pairs or sets["train"]["pairs"]
    parts, subsets = [], 0
    for name, split in task.evaluation.items():
        one = sets[name]
        subsets += one.get("subsets", 1)
        count = min(one["pairs"], (split.pairs or one["pairs"]) * one.get("subsets", 1))
        parts.append(Pairs(count, count * one["tokens"]))
    return Pairs(train, train * sets["train"]["tokens"]), Pairs(*map(sum, zip(*parts, strict=True))), subsets
