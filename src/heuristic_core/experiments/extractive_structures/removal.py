"""Measure what removing components costs, and how scores correlate with it."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.answers import compute_losses
from heuristic_core.experiments.extractive_structures.config import MAX_EXHAUSTIVE_COMPONENTS
from heuristic_core.experiments.extractive_structures.counterfactuals import Contrast
from heuristic_core.experiments.extractive_structures.data import Sentence
from heuristic_core.experiments.extractive_structures.model import Layer, Shifts, repeat_heads, run
from heuristic_core.experiments.extractive_structures.parameters import Parameters
from heuristic_core.experiments.extractive_structures.scores import KINDS, mask_prompts

EFFECTS = ("restored", "ablated")


def component_rows(contrast: Contrast, scores: dict[str, Tensor]) -> list[dict]:
    """Return the rows of table "extractive_components", without names: scores and effects of every component.

    Scores are summed over tokens and averaged over questions. An effect is the rise of the new model's R with the
    component's old weights ("restored"), or with its mean output ("ablated").

    Args:
        contrast: Models and questions.
        scores: Scores by kind, [n, T, layers, H + 1].
    """
    rises = _measure_effects(contrast)
    totals = {kind: value.masked_fill(value.isnan(), 0).sum(1).mean(0) for kind, value in scores.items()}
    layers, parts = totals[KINDS[0]].shape
    return [
        identify_component(layer, part, parts - 1)
        | {kind: float(total[layer, part]) for kind, total in totals.items()}
        | {effect: float(value[layer, part]) for effect, value in rises.items()}
        for layer in range(layers)
        for part in range(parts)
    ]


def score_rows(scores: dict[str, Tensor], sentences: Sequence[Sentence]) -> list[dict]:
    """Return the rows of table "extractive_scores", without names: one for each kind of score, component and token.

    Args:
        scores: Scores by kind, [n, T, layers, H + 1].
        sentences: The questions, with the role of every token. Means are over the questions that have a role.
    """
    layers, parts = scores[KINDS[0]].shape[2:]
    roles = _merge_roles(sentences)
    rows = []
    for score, values in scores.items():
        for position, role in enumerate(roles):
            indices = [(n, row.roles.index(role)) for n, row in enumerate(sentences) if role in row.roles]
            role_values = values[tuple(torch.tensor(indices).T)]  # [questions, layers, H + 1]
            finite = role_values[~role_values[:, 0, 0].isnan()]
            means = finite.mean(0) if len(finite) else None
            labels = {"token": role, "position": position, "score": score, "questions": len(finite)}
            reason = None if len(finite) else "in no question has the token a partner in a counterfactual prompt"
            rows += [
                identify_component(layer, part, parts - 1)
                | labels
                | {"value": None if means is None else float(means[layer, part]), "reason": reason}
                for layer in range(layers)
                for part in range(parts)
            ]
    return rows


def _merge_roles(sentences: Sequence[Sentence]) -> list[str]:
    """Return all roles in order: those of the longest prompt, with the roles of other prompts inserted."""
    merged = list(max((sentence.roles for sentence in sentences), key=len))
    for sentence in sentences:
        for before, role in zip((None, *sentence.roles), sentence.roles, strict=False):
            if role not in merged:
                merged.insert(0 if before is None else merged.index(before) + 1, role)
    return merged


def identify_component(layer: int, part: int, heads: int) -> dict:
    """Return the columns that identify a component in tables.

    Args:
        layer: Number of the layer.
        part: Number of the component in its layer: heads in order, then the MLP.
        heads: Number of heads of a layer.
    """
    kind = "head" if part < heads else "mlp"
    return {"kind": kind, "layer": layer, "head": part if part < heads else None}


@torch.no_grad()
def _measure_effects(contrast: Contrast) -> dict[str, Tensor]:
    """Return the rises of R by effect, means over questions, [layers, H + 1]."""
    old, new, queries = contrast.old, contrast.new, contrast.queries
    baseline, mask = run(new, queries.tokens), mask_prompts(queries)
    heads = baseline.layers[0].context.shape[2]
    components = [(layer, head) for layer in range(len(baseline.layers)) for head in (*range(heads), None)]

    def mean_loss(p: Parameters, shifts: Shifts | None = None) -> Tensor:
        return compute_losses(run(p, queries.tokens, shifts).logits, queries).double().mean()

    mean_losses = {
        "restored": [mean_loss(restore_component(new, old, layer, head)) for layer, head in components],
        "ablated": [
            mean_loss(new, build_ablation_shift(baseline.layers[layer], layer, head, mask))
            for layer, head in components
        ],
    }
    before = mean_loss(new)
    return {name: torch.stack(values).view(-1, heads + 1) - before for name, values in mean_losses.items()}


def build_ablation_shift(outputs: Layer, layer: int, head: int | None, mask: Tensor) -> Shifts:
    """Return the shift from a component's output to its mean over all tokens of the prompts.

    Args:
        outputs: Activations of the layer.
        layer: Number of the layer.
        head: Number of the head; None for the MLP.
        mask: Which tokens belong to prompts, bool [n, T].
    """
    output = outputs.mlp if head is None else outputs.context
    shift = output[mask].mean(0) - output
    if head is None:
        return {(layer, "mlp"): shift}
    return {(layer, "context"): shift * (torch.arange(shift.shape[2]) == head)[:, None]}


def restore_component(new: Parameters, old: Parameters, layer: int, head: int | None) -> dict[str, Tensor]:
    """Return the new parameters with the old matrices of one component.

    Args:
        new: Parameters of the taught model.
        old: Parameters of the model before, with the same names and shapes.
        layer: Number of the layer.
        head: Number of the head; None for the layer's MLP.
    """
    parameters = dict(new)

    def has(name: str) -> bool:
        return f"{layer}.{name}" in new

    if head is None:
        return parameters | {f"{layer}.{name}": old[f"{layer}.{name}"] for name in ("up", "gate", "down") if has(name)}
    heads = new[f"{layer}.query"].shape[1]
    for name in ("query", "key", "value", "query_bias", "key_bias", "value_bias", "output"):
        if not has(name):
            continue
        # Keys and values that heads share are copied for each head, so that only this head gets the old ones.
        new_matrix, old_matrix = (
            p[f"{layer}.{name}"] if name == "output" else repeat_heads(p[f"{layer}.{name}"], heads) for p in (new, old)
        )
        matrix, axis = new_matrix.clone(), 0 if name == "output" else new_matrix.dim() - 2
        matrix.select(axis, head).copy_(old_matrix.select(axis, head))
        parameters[f"{layer}.{name}"] = matrix
    return parameters


def removal_rows(components: Sequence[dict]) -> list[dict]:
    """Return the rows of table "extractive_removal", without names: r of every kind of score with every effect.

    Args:
        components: Rows of :func:`component_rows`. Correlations are over heads and over MLPs.
    """
    rows = []
    for kind in ("head", "mlp"):
        kind_rows = [row for row in components if row["kind"] == kind]
        for score in KINDS:
            for effect in EFFECTS:
                r, reason = correlate(*([row[name] for row in kind_rows] for name in (score, effect)))
                rows.append(
                    {"kind": kind, "score": score, "effect": effect, "r": r, "n": len(kind_rows), "reason": reason}
                )
    return rows


def agreement_rows(scores: dict[str, Tensor], falls: dict[str, Tensor] | None) -> list[dict]:
    """Return the rows of table "extractive_agreement", without names: r of scores with full replacement.

    Correlations are over means over questions, and over all questions. Upstream and path-averaged upstream scores are
    compared with the same replacement.

    Args:
        scores: Scores by kind, [n, T, layers, H + 1].
        falls: Falls of R by kind, of the same shape; None for a model that is too large, whose rows have no r.
    """
    if falls is None:
        layers, parts = scores[KINDS[0]].shape[2:]
        reason = f"{layers * parts} components; outputs are replaced one by one of at most {MAX_EXHAUSTIVE_COMPONENTS}"
        return [
            {"kind": kind, "score": score, "over": over, "r": None, "n": 0, "reason": reason}
            for score, kind, over in product(scores, ("head", "mlp"), ("means", "questions"))
        ]
    rows = []
    for score, values in scores.items():
        full = falls["upstream" if score == "upstream_path" else score]
        for kind, part in (("head", slice(None, -1)), ("mlp", slice(-1, None))):
            pair = [tensor[..., part] for tensor in (values, full)]
            for over, samples in (("means", [_nan_mean(tensor) for tensor in pair]), ("questions", pair)):
                finite = samples[0].isfinite() & samples[1].isfinite()
                r, reason = correlate(*(sample[finite].tolist() for sample in samples))
                rows.append(
                    {"kind": kind, "score": score, "over": over, "r": r, "n": int(finite.sum()), "reason": reason}
                )
    return rows


def _nan_mean(values: Tensor) -> Tensor:
    """Return the mean over the first axis, ignoring NaN; NaN if all values are NaN."""
    valid = ~values.isnan()
    return values.masked_fill(~valid, 0).sum(0) / valid.sum(0)


def correlate(a: Sequence[float], b: Sequence[float]) -> tuple[float | None, str | None]:
    """Correlate two series.

    Args:
        a: Values.
        b: Values, as many as in `a`.

    Returns:
        Pearson's r and None, or None and the reason why r is undefined.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(a) < 3:
        return None, f"{len(a)} values; a correlation needs three"
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None, "a value is not finite"
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return None, "all values are the same"
    return float(np.corrcoef(a, b)[0, 1]), None
