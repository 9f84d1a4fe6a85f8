"""Sentence pairs of a task."""

import json
from dataclasses import asdict
from typing import Annotated

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import Input, Output, Read
from heuristic_core.config.requirements import DataRequirements
from heuristic_core.config.tasks import AnyTask
from heuristic_core.data.counts import count_rows, list_unmet_requirements, log_counts
from heuristic_core.data.sentences import load_sentences
from heuristic_core.tables.parquet import write_table


def make_sentences(
    task: AnyTask,
    train: Output,
    evaluation: Output,
    subsets: Output,
    counts: Output,
    demands: Annotated[dict, Read(json.loads)] | None = None,
    fetched: Input | None = None,
    files: list[Input] = (),
) -> None:
    """Generate or read the sentence pairs of a task.

    Args:
        task: Block of the configuration.
        train: Where to write training pairs (Parquet).
        evaluation: Where to write evaluation pairs (Parquet).
        subsets: Where to write their subsets (JSON).
        counts: Where to write the outcome of all rows (JSON).
        demands: Requirements of the study on its pairs (JSON).
        fetched: List of what was downloaded, for the record.
        files: Files that the task names, for the record.

    Raises:
        InputError: The pairs do not meet the requirements.
    """
    pairs = load_sentences(task)
    rows = count_rows(pairs)
    log_counts(pairs, rows)
    if messages := list_unmet_requirements(pairs, DataRequirements(**(demands or {}))):
        raise InputError("\n".join(messages))
    write_table("sentences", pairs.train, train)
    write_table("sentences", pairs.evaluation, evaluation)
    write_text(counts, json.dumps(rows, indent=1) + "\n")
    described = {"labels": pairs.labels, "subsets": [asdict(rule) for rule in pairs.subsets]}
    write_text(subsets, json.dumps(described, indent=1) + "\n")
