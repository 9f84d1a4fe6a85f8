"""The authors' result files: which there are, and what they say, checked value by value.

Five JSON files a task, "<task>-..." (schemas: FIGURES.md). Accuracies are shares; -1 marks a run that failed.

sp<NN>            columns: seed ("original" is the full model), sparsity (the actual one), and one for each subset
acc_vs_sparsity   seed -> percent -> subset, last checkpoint
acc_over_ft       step -> subset, full model
sparsity-grid-acc seed -> step -> percent -> subset

A run may lack a subset that others of its file have, as failed runs of QQP lack PAWS: a missing value.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError

LAST = {"mnli": 61_360, "qqp": 40_000}  # the last checkpoint, of which the first two kinds of file are
FULL = "original"
FAILED = -1
RUN_FAILED = f"the published file has {FAILED}: a failed run"
NOT_THERE = "the published file has no value of this subset for this run"
CURVES = {"curve": "acc_vs_sparsity", "training": "acc_over_ft", "grid": "sparsity-grid-acc"}
SPREAD_RUN, CURVE_RUN = 0, 1  # the curves are further runs of seeds of the spread: their numbers differ


class Files(NamedTuple):
    """The files of one task. spread: by sparsity in percent, the lower one first."""

    task: str
    spread: dict[int, Path]
    curve: Path
    training: Path
    grid: Path

    @property
    def paths(self) -> list[Path]:
        return [*self.spread.values(), self.curve, self.training, self.grid]


class Value(NamedTuple):
    """One model on one subset. sparsity: target share, 0 for the full model. seed: None for it.

    name: the subset, as the file has it. accuracy: percent; None where it is missing, and `reason` says why.
    """

    step: int
    sparsity: float
    seed: int | None
    repeat: int
    name: str
    accuracy: float | None
    reason: str | None = None


class Results(NamedTuple):
    """All values of one task, those of the spread first. actual: (sparsity, seed) -> share of components removed."""

    task: str
    spread: list[Value]
    curve: list[Value]
    training: list[Value]
    grid: list[Value]
    actual: dict[tuple[float, int], float]


def find(folder: str | Path) -> list[Files]:
    """The tasks whose files are in `folder`. Raises InputError if there are none, or not all of one's five files."""
    folder = Path(folder)
    found = [task for task in LAST if any(folder.glob(f"{task}-*.json"))]
    if not found:
        wanted = ", ".join(f"{task}-sp<NN>.json" for task in LAST)
        raise InputError(
            f"published = {str(folder)!r}: no files {wanted} and so on there; give the folder of the authors' "
            "result files (data/eval of their repository)"
        )
    return [_of_task(folder, task) for task in found]


def _of_task(folder: Path, task: str) -> Files:
    spread = {int(m[1]): path for path in folder.iterdir() if (m := re.fullmatch(rf"{task}-sp(\d+)\.json", path.name))}
    if len(spread) != 2 or not all(0 < percent < 100 for percent in spread):
        names = ", ".join(sorted(path.name for path in spread.values())) or "none"
        raise InputError(
            f"{folder}: {task} needs two files {task}-sp<NN>.json, of the lower and the higher sparsity in percent; "
            f"found {names}"
        )
    curves = {key: folder / f"{task}-{name}.json" for key, name in CURVES.items()}
    if absent := [path.name for path in curves.values() if not path.is_file()]:
        raise InputError(f"{folder}: no file {', '.join(absent)}, which {task} needs beside its sp files")
    return Files(task, dict(sorted(spread.items())), **curves)


def read(files: Files) -> Results:
    """What the files of one task say. Raises InputError, naming file, key and value, where one is not as it should."""
    last, spread, actual = LAST[files.task], [], {}
    for percent, path in files.spread.items():
        values, removed = _spread(path, percent / 100, last)
        spread += values
        actual |= removed
    curve = [_of_curve(last, *keys, *value) for keys, *value in _nested(files.curve, ("seed", "sparsity"))]
    training = [_of_curve(step, None, 0.0, *value) for (step,), *value in _nested(files.training, ("step",))]
    levels = ("seed", "step", "sparsity")
    grid = [_of_curve(step, seed, share, *value) for (seed, step, share), *value in _nested(files.grid, levels)]
    return Results(files.task, spread, curve, training, grid, actual)


def _of_curve(
    step: int, seed: int | None, sparsity: float, name: str, accuracy: float | None, reason: str | None
) -> Value:
    """A value outside the spread; sparsity 0 is the full model, whatever seed it is under."""
    if sparsity == 0:
        return Value(step, 0.0, None, 0, name, accuracy, reason)
    return Value(step, sparsity, seed, CURVE_RUN, name, accuracy, reason)


def _spread(path: Path, sparsity: float, step: int) -> tuple[list[Value], dict[tuple[float, int], float]]:
    """The values of an sp file, subset by subset, and the actual sparsities of its subnetworks."""
    columns = _load(path)
    for key in ("seed", "sparsity"):
        if key not in columns:
            raise InputError(f"{path}: no key {key!r}; it has {', '.join(columns)}")
    for key, column in columns.items():
        if not isinstance(column, list):
            raise InputError(f"{path}: {key} = {_short(column)} must be a list")
        if len(column) != len(columns["seed"]):
            raise InputError(f"{path}: {key} has {len(column)} values, seed has {len(columns['seed'])}; give as many")
    seeds = [None if s == FULL else _whole(path, f"seed[{i}]", s) for i, s in enumerate(columns["seed"])]
    if seeds.count(None) != 1 or len(set(seeds)) < len(seeds):
        raise InputError(f"{path}: seed = {_short(columns['seed'])} must have {FULL!r} once, and no seed twice")
    shares = [_share(path, f"sparsity[{i}]", share) for i, share in enumerate(columns["sparsity"])]
    targets = [0.0 if seed is None else sparsity for seed in seeds]
    values = [
        Value(step, target, seed, SPREAD_RUN, name, *_accuracy(path, f"{name}[{i}]", column[i]))
        for name, column in columns.items()
        if name not in ("seed", "sparsity")
        for i, (seed, target) in enumerate(zip(seeds, targets, strict=True))
    ]
    removed = zip(seeds, shares, strict=True)
    return values, {(sparsity, seed): share for seed, share in removed if seed is not None}


def _nested(path: Path, levels: tuple[str, ...]) -> Iterator[tuple[tuple, str, float | None, str | None]]:
    """Keys, subset, accuracy and why it is missing, for every run of a file and every subset that any of its runs has.

    The file's keys are `levels`, in ascending order.
    """
    leaves = list(_leaves(path, "", _load(path), levels))
    names = dict.fromkeys(name for *_, leaf in leaves for name in leaf)
    for keys, where, leaf in leaves:
        for name in names:
            there = _accuracy(path, f"{where}[{name!r}]", leaf[name]) if name in leaf else (None, NOT_THERE)
            yield keys, name, *there


def _leaves(path: Path, where: str, node, levels: tuple[str, ...]) -> Iterator[tuple[tuple, str, dict]]:
    """Keys of the `levels` below `node`, the place they are at, and what is there: values by subset."""
    if not isinstance(node, dict) or not node:
        below = (*levels, "subset")[0]
        raise InputError(f"{path}: {where or 'the file'} = {_short(node)} must map each {below} to its values")
    if not levels:
        yield (), where, node
        return
    read_key = _percent if levels[0] == "sparsity" else _whole
    numbers = {read_key(path, f"{levels[0]} in {where or 'the file'}", key): key for key in node}
    if len(numbers) < len(node):
        raise InputError(f"{path}: {where or 'the file'} has a {levels[0]} twice; give each once")
    for number, key in sorted(numbers.items()):
        for keys, place, leaf in _leaves(path, f"{where}[{key!r}]", node[key], levels[1:]):
            yield (number, *keys), place, leaf


def _load(path: Path) -> dict:
    try:
        values = json.loads(path.read_text())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: expected an object with keys, found {_short(values)}")
    return values


def _accuracy(path: Path, key: str, value) -> tuple[float | None, str | None]:
    """Percent; None for a run that failed, and why."""
    if _is_number(value) and value == FAILED:
        return None, RUN_FAILED
    return 100 * _share(path, key, value, f", or {FAILED}"), None


def _share(path: Path, key: str, value, also: str = "") -> float:
    if not _is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{path}: {key} = {_short(value)} must be a share, 0 to 1{also}")
    return float(value)


def _percent(path: Path, key: str, value) -> float:
    try:
        share = round(float(value) / 100, 4)
    except (TypeError, ValueError):
        share = -1.0
    if not 0 <= share < 1:
        raise InputError(f"{path}: {key}: {_short(value)} must be a sparsity in percent, from 0 to below 100")
    return share


def _whole(path: Path, key: str, value) -> int:
    if not isinstance(value, int | str) or isinstance(value, bool) or not re.fullmatch(r"\d{1,9}", str(value)):
        raise InputError(f"{path}: {key}: {_short(value)} must be a whole number from 0 on")
    return int(value)


def _is_number(value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
