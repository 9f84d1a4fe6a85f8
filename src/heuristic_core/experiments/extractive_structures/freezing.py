"""Which layers must learn a fact so that what it implies is answered."""

from collections.abc import Iterator
from pathlib import Path

import torch

from heuristic_core.experiments.extractive_structures.answers import mean_loss, mean_rank
from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.model import Parameters, layers_of
from heuristic_core.experiments.extractive_structures.tokens import Asked, Examples
from heuristic_core.experiments.extractive_structures.training import Unfinished, teach


def of_layers(p: Parameters, layers: range) -> set[str]:
    """Names of the parameters of these layers."""
    return {name for name in p if name.split(".")[0] in set(map(str, layers))}


def blocks(p: Parameters) -> set[str]:
    """Names of the parameters of all layers: what facts of hops are taught to, embeddings excepted."""
    return of_layers(p, range(layers_of(p)))


def curve_rows(
    start: Parameters,
    taught: Examples,
    parts: dict[str, Asked],
    settings: Finetuning,
    seed: int,
    unfinished: Path | None = None,
) -> tuple[list[dict], Parameters]:
    """Rows by epoch of teaching, from 0, without names; and the parameters at the end. unfinished: a folder from which
    an interrupted run goes on."""
    rows = [{"epoch": 0} | one for one in answer_rows(start, parts)]

    def after(epoch: int, now: Parameters) -> None:
        rows.extend({"epoch": epoch} | one for one in answer_rows(now, parts))

    saved = unfinished and Unfinished(unfinished, rows)
    return rows, teach(start, taught, settings, ("facts", seed), blocks(start), after, saved)


def answer_rows(p: Parameters, parts: dict[str, Asked]) -> list[dict]:
    """A row for each set of questions. A model that waits in the host's memory is on the device meanwhile."""
    p = {name: value.to(torch.get_default_device()) for name, value in p.items()}
    return [
        {"part": part, "rank": mean_rank(p, asked), "loss": mean_loss(p, asked), "questions": len(asked.last)}
        for part, asked in parts.items()
    ]


def freezing_rows(
    start: Parameters,
    end: Parameters,
    taught: Examples,
    parts: dict[str, Asked],
    settings: Finetuning,
    early: int,
    seed: int,
) -> Iterator[dict]:
    """Rows, without names, of models some of whose layers have not learned.

    start, end: before and after all layers were taught. early: how many layers are. A layer is frozen: it stays as it
    is while the others are taught; or restored: it gets its former weights after all layers were taught.
    """
    count = layers_of(start)
    kept = {"none": range(0), "early": range(early), "late": range(early, count), "all": range(count)}
    for layers, which in kept.items():
        still = of_layers(start, which)
        learning = blocks(start) - still
        restored = {name: start[name] if name in still else value for name, value in end.items()}
        frozen = teach(start, taught, settings, ("facts", seed), learning) if still and learning else restored
        for how, model in (("frozen", frozen), ("restored", restored)):
            yield from ({"how": how, "layers": layers} | row for row in answer_rows(model, parts))
