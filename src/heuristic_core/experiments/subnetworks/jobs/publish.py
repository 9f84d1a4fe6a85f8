"""Subnetworks as folders for the Hugging Face hub: ordinary checkpoints with tokenizers and model cards."""

import contextlib
import logging
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pandas as pd
from transformers.utils import logging as hugging_face_logging

from heuristic_core.common.atomic import write_text
from heuristic_core.common.hashing import file_digest
from heuristic_core.common.roles import Folder, Input, Output
from heuristic_core.experiments.subnetworks.analysis.runs import describe_chance
from heuristic_core.experiments.subnetworks.archive.cards import (
    Origin,
    render_card,
    render_index,
    select_run,
    select_run_and_full_model,
)
from heuristic_core.experiments.subnetworks.archive.publishing import folder_name
from heuristic_core.provenance.record import check_result, result_digests
from heuristic_core.pruning.checkpoint import write_checkpoint
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork, load_run
from heuristic_core.report.settings import read_study
from heuristic_core.tables.parquet import read_table

LOGGER = logging.getLogger("heuristic_core.publish")
CARD, SUBNETWORK = "README.md", "subnetwork.json"


def publish_subnetworks(
    licence: str,
    root: Folder,
    subnetworks: list[Input],
    settings: Input,
    accuracy: Input,
    groups: Input,
    index: Output,
    runs: Input | None = None,
    checkpoints: list[Input] = (),
    means: list[Input] = (),
) -> None:
    """Write subnetworks of a study as folders for the Hugging Face hub: ordinary checkpoints with model cards.

    A folder appears whole or not at all, and stays as it is if it would be written unchanged.

    Args:
        licence: Licence of the models, by its identifier on the hub, such as mit.
        root: The study's folder.
        subnetworks: subnetwork.json of each, below its checkpoint and means.
        settings: The study's study.json, which has its checked settings.
        accuracy: Table of accuracies by subset.
        groups: Table of accuracies by group.
        index: README.md of all of them; each is in a folder beside it.
        runs: Table of outcomes of pruning runs.
        checkpoints: Folders of the fine-tuned models.
        means: Component means of these.
    """
    for path in (*subnetworks, *checkpoints, *means, *filter(None, [accuracy, groups, runs])):
        check_result(path, result_digests(path), Path(root))
    hugging_face_logging.disable_progress_bar()
    study_settings = read_study(settings)["settings"]
    origin = Origin(study_settings, licence)
    accuracies, group_accuracies = read_table(accuracy), read_table(groups)
    outcomes = read_table(runs) if runs else None
    failed = []
    for source in map(Path, subnetworks):
        run = load_run(source)
        name = folder_name(run.identity.ft_seed, run.identity.sparsity, run.identity.seed)
        if isinstance(run, FailedRun):
            failed.append(f"{name} ({run.reason})")
            continue
        step, folder = source.parents[2], Path(index).with_name(name)
        write_card = partial(_make_card, origin, source, step, group_accuracies, accuracies, outcomes)
        LOGGER.info("%s: %s", folder, "written" if publish(step, source, folder, write_card) else "unchanged")
    published = [
        (path.parent.name, Subnetwork.load(path)) for path in sorted(Path(index).parent.glob(f"*/{SUBNETWORK}"))
    ]
    lost = [name for name, subnetwork in published if _reason_at_chance(outcomes, subnetwork)]
    write_text(index, render_index(origin, study_settings["study"], published, group_accuracies, failed, lost))


def publish(step: Path, source: Path, folder: Path, make_card: Callable[[Subnetwork], str]) -> bool:
    """Write one subnetwork as a folder.

    Args:
        step: Folder with `checkpoint/` and `means.safetensors`.
        source: The subnetwork (JSON).
        folder: Where to write it.
        make_card: Returns the text of README.md.

    Returns:
        Whether anything was written; False if the folder was there with the same contents.

    Raises:
        InputError: The architecture has no bias that could hold the means.
    """
    with _replace_on_success(folder) as (partial_folder, keep):
        write_checkpoint(step / "checkpoint", step / "means.safetensors", source, partial_folder)
        shutil.copyfile(source, partial_folder / SUBNETWORK)
        (partial_folder / CARD).write_text(make_card(Subnetwork.load(source)))
        same = _contents(partial_folder) == _contents(folder)
        if same:
            keep()
    return not same


def _reason_at_chance(runs: pd.DataFrame | None, subnetwork: Subnetwork) -> str | None:
    """Return why a subnetwork is at chance in-domain; None if it is above chance, or if that is not known."""
    rows = [] if runs is None else select_run(runs, subnetwork).dropna(subset=["chance", "id_low"]).to_dict("records")
    return describe_chance(rows[0]) if rows else None


def _make_card(origin, source, step, groups, accuracy, runs, subnetwork) -> str:
    """Return the card of one subnetwork."""
    sources = {
        "subnetwork.json": file_digest(source),
        "the full model's weights": file_digest(step / "checkpoint" / "model.safetensors"),
        "the means": file_digest(step / "means.safetensors"),
    }
    rows = select_run_and_full_model(groups, subnetwork), select_run_and_full_model(accuracy, subnetwork)
    return render_card(origin, subnetwork, *rows, sources, _reason_at_chance(runs, subnetwork))


@contextlib.contextmanager
def _replace_on_success(folder: Path) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Replace a folder if the block succeeds.

    A killed job leaves the old folder, the new one or, between two renames, neither.

    Yields:
        An empty folder, which replaces `folder` at the end, and a function that keeps the old folder instead.
    """
    partial, old = (folder.with_name(f".{folder.name}.{name}") for name in ("partial", "old"))
    for leftover in (partial, old):
        shutil.rmtree(leftover, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        yield partial, lambda: shutil.rmtree(partial)
        if partial.is_dir():
            if folder.exists():
                folder.rename(old)
            partial.rename(folder)
    finally:
        for leftover in (partial, old):
            shutil.rmtree(leftover, ignore_errors=True)


def _contents(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file by its path in `folder`; empty if the folder is missing."""
    return {str(path.relative_to(folder)): file_digest(path) for path in folder.rglob("*") if path.is_file()}
