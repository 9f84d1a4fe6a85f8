"""Measure one checkpoint of every model, as rows of the experiment's tables."""

from collections.abc import Iterator
from math import isnan
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting import circuits as c
from heuristic_core.experiments.list_sorting import effect_measures as e
from heuristic_core.experiments.list_sorting.ablation import compute_measures, measure_ablations
from heuristic_core.experiments.list_sorting.effects import EffectsByTarget, measure_effects
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
    d = c.diagonal(folded.ov)
    effects = measure_effects(parameters, sample.held_out, sample.numbers)
    yield "sorting_models", _models(parameters, sample, seeds, d, effects)
    yield "sorting_heads", _heads(parameters, sample, seeds, folded, effects)
    yield (
        "sorting_ablations",
        _label_ablations(measure_ablations(parameters, sample.held_out, sample.training, sample.seed), seeds),
    )
    if matrices:
        numbers = {COPYING: e.copied_numbers(effects), SUPPRESSION: e.suppressed_numbers(effects)}
        chosen = {mode: torch.from_numpy(mask) for mode, mask in numbers.items()}
        rows = measure_mode_ablations(parameters, sample.held_out, sample.training, chosen, sample.seed)
        yield "sorting_mode_ablations", _label_ablations(rows, seeds)
        yield "sorting_numbers", _numbers(seeds, d, numbers, effects)
        yield "sorting_matrices", list(_matrices(seeds, folded))
        yield "sorting_distance", _distances(parameters, sample, seeds)


def _models(p: Parameters, sample: Sample, seeds: list[int], d: Tensor, effects: EffectsByTarget) -> list[dict]:
    """Return rows of table "sorting_models"."""
    forward = run_models(p, sample.held_out)
    head_measures = {
        "overlap": e.overlap(effects.next.effect),
        "splitting": e.splitting(effects.next.effect),
        "suppression": e.share_suppressed(effects.other.effect),
        "suppression_of_next": e.share_suppressed(effects.next.effect),
        "attention_similarity": c.attention_similarity(forward.attention),
        "folded_overlap": e.overlap(d.numpy()),
        "folded_both_copy": c.both_copy(d),
        "folded_opposite_sign": c.opposite_sign(d),
    }
    squares = torch.stack([value.double().flatten(1).square().sum(1) for value in p.values()]).sum(0)
    return [
        {"seed": seed, "weight_norm": float(squares[m]) ** 0.5, "lists": len(sample.held_out)}
        | compute_measures(forward.logits[m], sample.held_out)
        | {name: _to_float(values[m]) for name, values in head_measures.items()}
        for m, seed in enumerate(seeds)
    ]


def _heads(p: Parameters, sample: Sample, seeds: list[int], folded: c.Circuits, effects: EffectsByTarget) -> list[dict]:
    """Return rows of table "sorting_heads"."""
    differences, d = measure_folding(p, sample.folded), c.diagonal(folded.ov).numpy()
    copied = e.copied_numbers(effects)
    values = {
        "copying": e.copying(effects),
        "suppression": e.suppression(effects),
        "copied_share": copied.mean(-1),
        "suppressed_share": e.suppressed_numbers(effects).mean(-1),
        "qk_rank": c.effective_rank(folded.qk),
        "ov_rank": c.effective_rank(folded.ov),
        "attention_error": differences.attention,
        "written_error": differences.written,
        "agreement": differences.agreement,
        "sign_agreement": e.sign_agreement(effects.next.effect, d),
        "other_sign_agreement": e.sign_agreement(effects.other.effect, d),
    }
    return [
        {"seed": seed, "head": head, "ranges": e.count_ranges(copied[m, head])}
        | {name: _to_float(value[m, head]) for name, value in values.items()}
        for m, seed in enumerate(seeds)
        for head in range(copied.shape[1])
    ]


def _label_ablations(rows: list[dict], seeds: list[int]) -> list[dict]:
    """Return rows of ablations with the models' seeds, and heads as text."""
    return [{"seed": seeds[row.pop("model")], "ablated": "+".join(map(str, row.pop("ablated")))} | row for row in rows]


def _numbers(seeds: list[int], d: Tensor, numbers: dict[str, np.ndarray], effects: EffectsByTarget) -> list[dict]:
    """Return rows of table "sorting_numbers"."""
    values = effects.next._asdict() | {f"other_{name}": value for name, value in effects.other._asdict().items()}
    return [
        {"seed": seed, "head": head, "number": k, "d": float(d[m, head, k])}
        | {"copies": bool(numbers[COPYING][m, head, k]), "suppresses": bool(numbers[SUPPRESSION][m, head, k])}
        | {name: _to_float(value[m, head, k]) for name, value in values.items()}
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
