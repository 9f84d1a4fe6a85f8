"""One checkpoint of every model as rows of the experiment's tables."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting import circuits as c
from heuristic_core.experiments.list_sorting.ablation import ablations, measures
from heuristic_core.experiments.list_sorting.folding import folding
from heuristic_core.experiments.list_sorting.mode_ablation import mode_ablations
from heuristic_core.experiments.list_sorting.model import Parameters, run
from heuristic_core.experiments.list_sorting.modes import COPYING, SUPPRESSION

Rows = Iterator[tuple[str, list[dict]]]  # name of a table, and rows of it without study, condition and step


class Sample(NamedTuple):
    """Whole sequences, int64 [n, 2 L + 1]. held_out: measured on. training: behind means and resampled contexts.
    folded: of the held-out ones, those on which folded matrices are compared with the model."""

    held_out: Tensor
    training: Tensor
    folded: Tensor
    numbers: int
    seed: int


@torch.no_grad()
def measured(parameters: Parameters, sample: Sample, seeds: list[int], matrices: bool) -> Rows:
    """Every table's rows. matrices: whether QK and OV, and attention by distance, are kept, and modes are ablated. The
    model's seed is a column of all of them."""
    found = c.circuits(parameters)
    d, copied = c.diagonal(found.ov), c.copies(found.ov)
    yield "sorting_models", _models(parameters, sample, seeds, d, copied)
    yield "sorting_heads", _heads(parameters, sample, seeds, found, copied)
    yield "sorting_ablations", _named(ablations(parameters, sample.held_out, sample.training, sample.seed), seeds)
    if matrices:
        numbers = {COPYING: copied, SUPPRESSION: c.suppresses(found.ov)}
        rows = mode_ablations(parameters, sample.held_out, sample.training, numbers, sample.seed)
        yield "sorting_mode_ablations", _named(rows, seeds)
        yield "sorting_numbers", _numbers(seeds, d, copied)
        yield "sorting_matrices", list(_matrices(seeds, found))
        yield "sorting_distance", _distances(parameters, sample, seeds)


def _models(p: Parameters, sample: Sample, seeds: list[int], d: Tensor, copied: Tensor) -> list[dict]:
    logits = torch.cat([run(p, part).logits for part in sample.held_out.split(512)], 1)
    of_heads = {
        "soft_overlap": c.soft_overlap(d),
        "both_copy": c.both_copy(d),
        "opposite_sign": c.opposite_sign(d),
        "splitting": c.splitting(copied),
    }
    squares = torch.stack([value.double().flatten(1).square().sum(1) for value in p.values()]).sum(0)
    return [
        {"seed": seed, "weight_norm": float(squares[m]) ** 0.5, "lists": len(sample.held_out)}
        | measures(logits[m], sample.held_out)
        | {name: _known(values[m]) for name, values in of_heads.items()}
        for m, seed in enumerate(seeds)
    ]


def _heads(p: Parameters, sample: Sample, seeds: list[int], found: c.Circuits, copied: Tensor) -> list[dict]:
    suppressed, near = c.suppresses(found.ov), folding(p, sample.folded)
    values = {
        "copying": copied.double().mean(-1),
        "suppression": suppressed.double().mean(-1),
        "qk_rank": c.effective_rank(found.qk),
        "ov_rank": c.effective_rank(found.ov),
        "attention_error": near.attention,
        "written_error": near.written,
        "agreement": near.agreement,
    }
    return [
        {"seed": seed, "head": head, "ranges": len(c.ranges(copied[m, head]))}
        | {name: _known(value[m, head]) for name, value in values.items()}
        for m, seed in enumerate(seeds)
        for head in range(copied.shape[1])
    ]


def _named(rows: list[dict], seeds: list[int]) -> list[dict]:
    """Rows of ablations with the model's seed, and heads as the tables have them."""
    return [{"seed": seeds[row.pop("model")], "ablated": "+".join(map(str, row.pop("ablated")))} | row for row in rows]


def _numbers(seeds: list[int], d: Tensor, copied: Tensor) -> list[dict]:
    return [
        {"seed": seed, "head": head, "number": k, "d": float(d[m, head, k]), "copies": bool(copied[m, head, k])}
        for m, seed in enumerate(seeds)
        for head in range(d.shape[1])
        for k in range(d.shape[2])
    ]


def _matrices(seeds: list[int], found: c.Circuits) -> Iterator[dict]:
    for circuit, values in found._asdict().items():
        for m, seed in enumerate(seeds):
            for head, matrix in enumerate(values[m].float()):
                about = {"seed": seed, "head": head, "circuit": circuit}
                yield from ({**about, "row": row, "values": line.tolist()} for row, line in enumerate(matrix))


def _distances(p: Parameters, sample: Sample, seeds: list[int]) -> list[dict]:
    found = c.by_distance(run(p, sample.held_out).attention, sample.held_out, sample.numbers)
    return [
        {
            "seed": seed,
            "head": head,
            "keys": ("list", "sorted")[at],
            "distance": k - sample.numbers + 1,
            "attention": _known(found.attention[m, head, at, k]),
            "pairs": int(found.pairs[at, k]),
        }
        for m, seed in enumerate(seeds)
        for head in range(found.attention.shape[1])
        for at in range(2)
        for k in range(2 * sample.numbers - 1)
    ]


def _known(value: Tensor) -> float | None:
    """None where a measure is undefined."""
    return None if value.isnan() else float(value)
