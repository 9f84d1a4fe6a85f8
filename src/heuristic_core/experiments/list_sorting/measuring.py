"""Measure one checkpoint of every model, as rows of the experiment's tables."""

from collections.abc import Iterator
from math import isnan
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting import circuits as c
from heuristic_core.experiments.list_sorting import effects as e
from heuristic_core.experiments.list_sorting.ablation import compute_measures, measure_ablations
from heuristic_core.experiments.list_sorting.folding import measure_folding
from heuristic_core.experiments.list_sorting.mode_ablation import measure_mode_ablations
from heuristic_core.experiments.list_sorting.model import Parameters, run_models
from heuristic_core.experiments.list_sorting.modes import COPYING, SUPPRESSION

Rows = Iterator[tuple[str, list[dict]]]  # name of a table, and rows of it without study, condition and step


class Sample(NamedTuple):
    """Complete sequences, int64 [n, 2 L + 1], on which models are measured.

    Attributes:
        held_out: Held-out sequences to measure on.
        training: Training sequences behind means and resampled contexts.
        folded: Held-out sequences on which folded matrices are compared with the model.
        numbers: Size of the vocabulary without the separator.
        seed: Seed of the resampled contexts.
    """

    held_out: Tensor
    training: Tensor
    folded: Tensor
    numbers: int
    seed: int


@torch.no_grad()
def measure_checkpoint(parameters: Parameters, sample: Sample, seeds: list[int], matrices: bool) -> Rows:
    """Yield the name and rows of every table.

    Args:
        parameters: Parameters of M models.
        sample: Sequences to measure on.
        seeds: The models' seeds, a column of all tables.
        matrices: Whether to return QK and OV matrices and attention by distance, and to ablate modes.
    """
    folded = c.fold_circuits(parameters)
    d, copied = c.diagonal(folded.ov), c.copying_mask(folded.ov)
    effects = e.measure_effects(parameters, sample.held_out, sample.numbers)
    yield "sorting_models", _models(parameters, sample, seeds, d, copied, effects.effect)
    yield "sorting_heads", _heads(parameters, sample, seeds, folded, copied, effects.effect)
    yield (
        "sorting_ablations",
        _label_ablations(measure_ablations(parameters, sample.held_out, sample.training, sample.seed), seeds),
    )
    if matrices:
        numbers = {COPYING: copied, SUPPRESSION: c.suppression_mask(folded.ov)}
        rows = measure_mode_ablations(parameters, sample.held_out, sample.training, numbers, sample.seed)
        yield "sorting_mode_ablations", _label_ablations(rows, seeds)
        yield "sorting_numbers", _numbers(seeds, d, copied, effects)
        yield "sorting_matrices", list(_matrices(seeds, folded))
        yield "sorting_distance", _distances(parameters, sample, seeds)


def _models(
    p: Parameters, sample: Sample, seeds: list[int], d: Tensor, copied: Tensor, effect: np.ndarray
) -> list[dict]:
    """Return rows of table "sorting_models"."""
    forward = run_models(p, sample.held_out)
    head_measures = {
        "soft_overlap": c.soft_overlap(d),
        "both_copy": c.both_copy(d),
        "opposite_sign": c.opposite_sign(d),
        "splitting": c.splitting(copied),
        "effect_overlap": c.soft_overlap(torch.from_numpy(np.nan_to_num(effect))),
        "effect_splitting": e.splitting(effect),
        "effect_suppression": e.suppression(effect),
        "attention_similarity": e.attention_similarity(forward.attention),
    }
    squares = torch.stack([value.double().flatten(1).square().sum(1) for value in p.values()]).sum(0)
    return [
        {"seed": seed, "weight_norm": float(squares[m]) ** 0.5, "lists": len(sample.held_out)}
        | compute_measures(forward.logits[m], sample.held_out)
        | {name: _to_float(values[m]) for name, values in head_measures.items()}
        for m, seed in enumerate(seeds)
    ]


def _heads(
    p: Parameters, sample: Sample, seeds: list[int], folded: c.Circuits, copied: Tensor, effect: np.ndarray
) -> list[dict]:
    """Return rows of table "sorting_heads"."""
    suppressed, differences = c.suppression_mask(folded.ov), measure_folding(p, sample.folded)
    values = {
        "copying": copied.double().mean(-1),
        "suppression": suppressed.double().mean(-1),
        "qk_rank": c.effective_rank(folded.qk),
        "ov_rank": c.effective_rank(folded.ov),
        "attention_error": differences.attention,
        "written_error": differences.written,
        "agreement": differences.agreement,
        "effect_copied": e.copied(effect),
        "effect_suppressed": e.suppressed(effect),
        "sign_agreement": e.sign_agreement(effect, c.diagonal(folded.ov).numpy()),
    }
    return [
        {"seed": seed, "head": head, "ranges": len(c.copied_ranges(copied[m, head]))}
        | {name: _to_float(value[m, head]) for name, value in values.items()}
        for m, seed in enumerate(seeds)
        for head in range(copied.shape[1])
    ]


def _label_ablations(rows: list[dict], seeds: list[int]) -> list[dict]:
    """Return rows of ablations with the models' seeds, and heads as text."""
    return [{"seed": seeds[row.pop("model")], "ablated": "+".join(map(str, row.pop("ablated")))} | row for row in rows]


def _numbers(seeds: list[int], d: Tensor, copied: Tensor, effects: e.Effects) -> list[dict]:
    """Return rows of table "sorting_numbers"."""
    return [
        {"seed": seed, "head": head, "number": k, "d": float(d[m, head, k]), "copies": bool(copied[m, head, k])}
        | {name: _to_float(value[m, head, k]) for name, value in effects._asdict().items()}
        for m, seed in enumerate(seeds)
        for head in range(d.shape[1])
        for k in range(d.shape[2])
    ]


def _matrices(seeds: list[int], folded: c.Circuits) -> Iterator[dict]:
    """Yield rows of table "sorting_matrices"."""
    for circuit, values in folded._asdict().items():
        for m, seed in enumerate(seeds):
            for head, matrix in enumerate(values[m].float()):
                names = {"seed": seed, "head": head, "circuit": circuit}
                yield from ({**names, "row": row, "values": line.tolist()} for row, line in enumerate(matrix))


def _distances(p: Parameters, sample: Sample, seeds: list[int]) -> list[dict]:
    """Return rows of table "sorting_distance"."""
    averages = c.average_attention_by_distance(
        run_models(p, sample.held_out).attention, sample.held_out, sample.numbers
    )
    return [
        {
            "seed": seed,
            "head": head,
            "keys": ("list", "sorted")[region],
            "distance": k - sample.numbers + 1,
            "attention": _to_float(averages.attention[m, head, region, k]),
            "pairs": int(averages.pairs[region, k]),
        }
        for m, seed in enumerate(seeds)
        for head in range(averages.attention.shape[1])
        for region in range(2)
        for k in range(2 * sample.numbers - 1)
    ]


def _to_float(value: Tensor | np.floating) -> float | None:
    """Return a number, or None if the measure is undefined."""
    number = float(value)
    return None if isnan(number) else number
