"""Measure which layers must learn a fact before a model answers what the fact implies."""

from collections.abc import Iterator
from pathlib import Path

import torch

from heuristic_core.experiments.extractive_structures.answers import mean_loss, mean_rank
from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.parameters import (
    Parameters,
    count_layers,
    select_layers,
    select_weights,
)
from heuristic_core.experiments.extractive_structures.tokens import Examples, Queries
from heuristic_core.experiments.extractive_structures.training import StageSaving, teach


def curve_rows(
    start: Parameters,
    taught: Examples,
    parts: dict[str, Queries],
    settings: Finetuning,
    seed: int,
    unfinished: Path | None = None,
) -> tuple[list[dict], Parameters]:
    """Teach facts of a hop and measure answers after every epoch.

    Args:
        start: Parameters before teaching.
        taught: Facts.
        parts: Questions by part.
        settings: Settings of teaching.
        seed: Seed of the order of sentences.
        unfinished: Folder of saved states, from which an interrupted run resumes.

    Returns:
        Rows of table "extractive_curves" from epoch 0, without names, and the parameters at the end.
    """
    rows = [{"epoch": 0} | row for row in answer_rows(start, parts)]

    def measure(epoch: int, parameters: Parameters) -> None:
        rows.extend({"epoch": epoch} | row for row in answer_rows(parameters, parts))

    saved = unfinished and StageSaving(unfinished, rows)
    trained = select_weights(start, settings.hop_weights)
    return rows, teach(start, taught, settings, ("facts", seed), trained, measure, saved)


def answer_rows(p: Parameters, parts: dict[str, Queries]) -> list[dict]:
    """Return a row with rank and loss (nats) for each part of the questions.

    Args:
        p: Weights of the model. Those in the host's memory are copied to the default device.
        parts: Questions by name of the part.
    """
    p = {name: value.to(torch.get_default_device()) for name, value in p.items()}
    return [
        {"part": part, "rank": mean_rank(p, queries), "loss": mean_loss(p, queries), "questions": len(queries.last)}
        for part, queries in parts.items()
    ]


def freezing_rows(
    start: Parameters,
    end: Parameters,
    taught: Examples,
    parts: dict[str, Queries],
    settings: Finetuning,
    early: int,
    seed: int,
) -> Iterator[dict]:
    """Yield rows of table "extractive_freezing", without names, of models in which some layers have not learned.

    Frozen layers are excluded from teaching. Restored layers get their former weights back after all were taught.
    Where embeddings learn facts, too, they always do.

    Args:
        start: Parameters before teaching.
        end: Parameters after all layers were taught.
        taught: Facts.
        parts: Questions by part.
        settings: Settings of teaching.
        early: Number of early layers.
        seed: Seed of the order of sentences.
    """
    count = count_layers(start)
    unlearned = {"none": range(0), "early": range(early), "late": range(early, count), "all": range(count)}
    for layers, indices in unlearned.items():
        fixed = select_layers(start, indices)
        trained = select_weights(start, settings.hop_weights) - fixed
        restored = {name: start[name] if name in fixed else value for name, value in end.items()}
        frozen = teach(start, taught, settings, ("facts", seed), trained) if fixed and trained else restored
        for how, model in (("frozen", frozen), ("restored", restored)):
            yield from ({"how": how, "layers": layers} | row for row in answer_rows(model, parts))
