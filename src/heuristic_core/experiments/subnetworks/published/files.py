"""Find and read the authors' result files, checking every value.

A task has five JSON files "<task>-..." (schemas: FIGURES.md). Accuracies are shares, 0 to 1; -1 marks a failed run.

sp<NN>            columns: seed ("original" is the full model), sparsity (the actual one), and one for each subset
acc_vs_sparsity   seed -> percent -> subset, last checkpoint
acc_over_ft       step -> subset, full model
sparsity-grid-acc seed -> step -> percent -> subset

A run may lack a subset that other runs of its file have: its value is missing. Failed runs of QQP lack PAWS.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError

LAST_STEPS = {"mnli": 61_360, "qqp": 40_000}  # the last checkpoint, of files sp<NN> and acc_vs_sparsity
FULL_MODEL_SEED = "original"
FAILED = -1
RUN_FAILED = f"the published file has {FAILED}: a failed run"
VALUE_MISSING = "the published file has no value of this subset for this run"
FILE_NAMES = {"curve": "acc_vs_sparsity", "training": "acc_over_ft", "grid": "sparsity-grid-acc"}
SPREAD_RUN, CURVE_RUN = 0, 1  # curves are from further runs of the spread's seeds, so their values differ


class TaskFiles(NamedTuple):
    """The files of one task.

    Attributes:
        task: "mnli" or "qqp".
        spread: Files sp<NN> by sparsity in percent, ascending.
        curve: File acc_vs_sparsity.
        training: File acc_over_ft.
        grid: File sparsity-grid-acc.
    """

    task: str
    spread: dict[int, Path]
    curve: Path
    training: Path
    grid: Path

    @property
    def paths(self) -> list[Path]:
        """The paths of all files."""
        return [*self.spread.values(), self.curve, self.training, self.grid]


class PublishedValue(NamedTuple):
    """The accuracy of one model on one subset.

    Attributes:
        step: The fine-tuning step.
        sparsity: The target sparsity, 0 to 1; 0 for the full model.
        seed: The pruning seed; None for the full model.
        repeat: The run of the pruning seed.
        name: The subset's name in the file.
        accuracy: In percent; None if it is missing.
        reason: Why accuracy is missing, else None.
    """

    step: int
    sparsity: float
    seed: int | None
    repeat: int
    name: str
    accuracy: float | None
    reason: str | None = None


class Results(NamedTuple):
    """All values of one task.

    Attributes:
        task: "mnli" or "qqp".
        spread: Values of sp<NN>.
        curve: Values of acc_vs_sparsity.
        training: Values of acc_over_ft.
        grid: Values of sparsity-grid-acc.
        actual: The share of components removed (0 to 1) by target sparsity and pruning seed.
    """

    task: str
    spread: list[PublishedValue]
    curve: list[PublishedValue]
    training: list[PublishedValue]
    grid: list[PublishedValue]
    actual: dict[tuple[float, int], float]


def find_tasks(folder: str | Path) -> list[TaskFiles]:
    """Find the tasks whose files are in `folder`.

    Raises:
        InputError: If there are no such files, or a task lacks one of its five files.
    """
    folder = Path(folder)
    tasks = [task for task in LAST_STEPS if any(folder.glob(f"{task}-*.json"))]
    if not tasks:
        patterns = ", ".join(f"{task}-sp<NN>.json" for task in LAST_STEPS)
        raise InputError(
            f"published = {str(folder)!r}: no files such as {patterns}; set the folder of the authors' "
            "result files (data/eval of their repository)"
        )
    return [_find_task(folder, task) for task in tasks]


def _find_task(folder: Path, task: str) -> TaskFiles:
    """Return the files of one task."""
    spread = {
        int(match[1]): path for path in folder.iterdir() if (match := re.fullmatch(rf"{task}-sp(\d+)\.json", path.name))
    }
    if len(spread) != 2 or not all(0 < percent < 100 for percent in spread):
        names = ", ".join(sorted(path.name for path in spread.values())) or "none"
        raise InputError(
            f"{folder}: {task} needs two files {task}-sp<NN>.json, of the lower and the higher sparsity in percent; "
            f"found {names}"
        )
    curves = {key: folder / f"{task}-{name}.json" for key, name in FILE_NAMES.items()}
    if missing := [path.name for path in curves.values() if not path.is_file()]:
        raise InputError(f"{folder}: no file {', '.join(missing)}, which {task} needs beside its sp files")
    return TaskFiles(task, dict(sorted(spread.items())), **curves)


def read_results(files: TaskFiles) -> Results:
    """Read the files of one task.

    Raises:
        InputError: If a value is invalid; the message names file, key and value.
    """
    last, spread, actual = LAST_STEPS[files.task], [], {}
    for percent, path in files.spread.items():
        values, removed = _read_spread(path, percent / 100, last)
        spread += values
        actual |= removed
    curve = [_make_value(last, *keys, *value) for keys, *value in _read_nested(files.curve, ("seed", "sparsity"))]
    training = [_make_value(step, None, 0.0, *value) for (step,), *value in _read_nested(files.training, ("step",))]
    levels = ("seed", "step", "sparsity")
    grid = [_make_value(step, seed, share, *value) for (seed, step, share), *value in _read_nested(files.grid, levels)]
    return Results(files.task, spread, curve, training, grid, actual)


def _make_value(
    step: int, seed: int | None, sparsity: float, name: str, accuracy: float | None, reason: str | None
) -> PublishedValue:
    """Return a value outside the spread; sparsity 0 is the full model under any seed."""
    if sparsity == 0:
        return PublishedValue(step, 0.0, None, 0, name, accuracy, reason)
    return PublishedValue(step, sparsity, seed, CURVE_RUN, name, accuracy, reason)


def _read_spread(path: Path, sparsity: float, step: int) -> tuple[list[PublishedValue], dict[tuple[float, int], float]]:
    """Return the values of an sp file, subset by subset, and the actual sparsities of its subnetworks."""
    columns = _load(path)
    for key in ("seed", "sparsity"):
        if key not in columns:
            raise InputError(f"{path}: no key {key!r}; it has {', '.join(columns)}")
    for key, column in columns.items():
        if not isinstance(column, list):
            raise InputError(f"{path}: {key} = {_shorten(column)} must be a list")
        if len(column) != len(columns["seed"]):
            raise InputError(
                f"{path}: {key} has {len(column)} values, seed has {len(columns['seed'])}; both need as many"
            )
    seeds = [
        None if s == FULL_MODEL_SEED else _parse_integer(path, f"seed[{i}]", s) for i, s in enumerate(columns["seed"])
    ]
    if seeds.count(None) != 1 or len(set(seeds)) < len(seeds):
        raise InputError(
            f"{path}: seed = {_shorten(columns['seed'])} must have {FULL_MODEL_SEED!r} once, and no seed twice"
        )
    shares = [_parse_share(path, f"sparsity[{i}]", share) for i, share in enumerate(columns["sparsity"])]
    targets = [0.0 if seed is None else sparsity for seed in seeds]
    values = [
        PublishedValue(step, target, seed, SPREAD_RUN, name, *_parse_accuracy(path, f"{name}[{i}]", column[i]))
        for name, column in columns.items()
        if name not in ("seed", "sparsity")
        for i, (seed, target) in enumerate(zip(seeds, targets, strict=True))
    ]
    removed = zip(seeds, shares, strict=True)
    return values, {(sparsity, seed): share for seed, share in removed if seed is not None}


def _read_nested(path: Path, levels: tuple[str, ...]) -> Iterator[tuple[tuple, str, float | None, str | None]]:
    """Yield keys, subset, accuracy and its reason for each run of a file and each subset that any run has.

    The file's keys are `levels`; runs are in ascending order of keys.
    """
    leaves = list(_iterate_leaves(path, "", _load(path), levels))
    names = dict.fromkeys(name for *_, leaf in leaves for name in leaf)
    for keys, location, leaf in leaves:
        for name in names:
            value = (
                _parse_accuracy(path, f"{location}[{name!r}]", leaf[name]) if name in leaf else (None, VALUE_MISSING)
            )
            yield keys, name, *value


def _iterate_leaves(path: Path, location: str, node, levels: tuple[str, ...]) -> Iterator[tuple[tuple, str, dict]]:
    """Yield keys of the `levels` below `node`, their location in the file, and the values by subset there."""
    if not isinstance(node, dict) or not node:
        expected = (*levels, "subset")[0]
        raise InputError(f"{path}: {location or 'the file'} = {_shorten(node)} must map each {expected} to its values")
    if not levels:
        yield (), location, node
        return
    read_key = _parse_percent if levels[0] == "sparsity" else _parse_integer
    numbers = {read_key(path, f"{levels[0]} in {location or 'the file'}", key): key for key in node}
    if len(numbers) < len(node):
        raise InputError(f"{path}: {location or 'the file'} repeats a {levels[0]}; list each once")
    for number, key in sorted(numbers.items()):
        for keys, leaf_location, leaf in _iterate_leaves(path, f"{location}[{key!r}]", node[key], levels[1:]):
            yield (number, *keys), leaf_location, leaf


def _load(path: Path) -> dict:
    """Load a JSON object."""
    try:
        values = json.loads(path.read_text())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: expected an object with keys, found {_shorten(values)}")
    return values


def _parse_accuracy(path: Path, key: str, value) -> tuple[float | None, str | None]:
    """Return accuracy in percent and None, or for a failed run None and the reason."""
    if _is_number(value) and value == FAILED:
        return None, RUN_FAILED
    return 100 * _parse_share(path, key, value, f", or {FAILED}"), None


def _parse_share(path: Path, key: str, value, also: str = "") -> float:
    """Return a share from 0 to 1; `also` describes other allowed values in the message."""
    if not _is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{path}: {key} = {_shorten(value)} must be a share, 0 to 1{also}")
    return float(value)


def _parse_percent(path: Path, key: str, value) -> float:
    """Return a sparsity in percent as a share."""
    try:
        share = round(float(value) / 100, 4)
    except (TypeError, ValueError):
        share = -1.0
    if not 0 <= share < 1:
        raise InputError(f"{path}: {key}: {_shorten(value)} must be a sparsity in percent, from 0 to below 100")
    return share


def _parse_integer(path: Path, key: str, value) -> int:
    """Return a non-negative integer of at most nine digits."""
    if not isinstance(value, int | str) or isinstance(value, bool) or not re.fullmatch(r"\d{1,9}", str(value)):
        raise InputError(f"{path}: {key}: {_shorten(value)} must be a whole number from 0 on")
    return int(value)


def _is_number(value) -> bool:
    """Return whether a JSON value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shorten(value) -> str:
    """Return the repr of a value, at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
