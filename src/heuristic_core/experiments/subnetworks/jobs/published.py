"""The authors' published results as tables of a study."""

import json
import logging
from collections import Counter
from typing import Annotated

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.common.roles import Folder, Input, Output, Read
from heuristic_core.experiments.subnetworks.published import tables
from heuristic_core.experiments.subnetworks.published.paws import PAWS
from heuristic_core.experiments.subnetworks.published.study import PublishedStudy, load_paper_results, read_studies
from heuristic_core.tables.parquet import write_table

LOGGER = logging.getLogger("heuristic_core.published")


def import_results(
    task: str,
    folder: Folder,
    study: Output,
    accuracy: Output,
    finetune_accuracy: Output,
    actual_sparsity: Output,
    groups: Annotated[dict, Read(json.loads)] | None = None,
    files: list[Input] = (),
    ablations: Output | None = None,
    core_null: Output | None = None,
) -> None:
    """Import the authors' published results of one task as tables of a study.

    Args:
        task: mnli or qqp.
        folder: The authors' result files.
        study: Where to write the study's settings and sources (JSON).
        accuracy: Where to write table "accuracy".
        finetune_accuracy: Where to write table "finetune_accuracy".
        actual_sparsity: Where to write table "actual_sparsity".
        groups: Group of each subset, by name, as JSON.
        files: Result files of the task, for the record.
        ablations: Where to write the ablations that the paper prints, of mnli.
        core_null: Where to write the size of the core that the paper prints, of mnli.

    Raises:
        InputError: There are no files of the task.
    """
    results = next((source for source in read_studies(folder, groups or {}) if source.task == task), None)
    if results is None:
        raise InputError(f"{folder}: no files of task {task!r}")
    _log_contents(results)
    outputs = {"accuracy": accuracy, "finetune_accuracy": finetune_accuracy, "actual_sparsity": actual_sparsity}
    outputs |= {"ablations": ablations, "core_null": core_null}
    for name, path in outputs.items():
        if path:
            write_table(name, getattr(tables, name)(results), path)
    write_text(study, json.dumps(_describe(results), indent=2) + "\n")


def _log_contents(study: PublishedStudy) -> None:
    """Log which file columns are which subsets, and which runs failed."""
    for name, source in study.subsets.items():
        means = ", in group means" if source.subset in study.analysis.subsets else ""
        LOGGER.info("%s is %s, %s%s", name, source.subset, source.group, means)
    if PAWS.rest in study.subsets:
        LOGGER.info("%s replaces %s: %s", PAWS.rest, PAWS.whole, PAWS.derivation)
    missing = [row for row in tables.accuracy(study) if row["accuracy"] is None]
    run = "step {step}, sparsity {sparsity:g}, seed {seed}, repeat {repeat}: {reason}".format
    for where, count in Counter(run(**row) for row in missing).items():
        LOGGER.info("missing: %s, %d subsets", where, count)


def _describe(study: PublishedStudy) -> dict:
    """Return the study's context, and where its numbers come from."""
    settings = {
        "files": {path.name: file_digest(path) for path in study.files.paths},
        "subsets": {name: source._asdict() for name, source in study.subsets.items()},
        "derived": {PAWS.rest: PAWS.derivation} if PAWS.rest in study.subsets else {},
        "core_heads": load_paper_results(study.task).get("core_heads"),
        "analysis": study.analysis.model_dump(mode="json"),
    }
    return {"context": study.context.model_dump(mode="json"), "settings": settings}
