"""Whether scores tell which components an answer needs."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.answers import losses
from heuristic_core.experiments.extractive_structures.config import FEW
from heuristic_core.experiments.extractive_structures.data import Sentence
from heuristic_core.experiments.extractive_structures.model import Layer, Parameters, Shifts, each_head, run
from heuristic_core.experiments.extractive_structures.scores import KINDS, Contrast, inside

EFFECTS = ("restored", "ablated")


def component_rows(of: Contrast, scores: dict[str, Tensor]) -> list[dict]:
    """A row for every component: its scores, summed over tokens, mean over questions; and how much R of the new model
    rises where its weights are the old ones (restored), or its output is its mean over prompts (ablated)."""
    rise = effects(of)
    totals = {kind: value.masked_fill(value.isnan(), 0).sum(1).mean(0) for kind, value in scores.items()}
    layers, parts = totals[KINDS[0]].shape
    return [
        component(layer, part, parts - 1)
        | {kind: float(total[layer, part]) for kind, total in totals.items()}
        | {effect: float(value[layer, part]) for effect, value in rise.items()}
        for layer in range(layers)
        for part in range(parts)
    ]


def score_rows(scores: dict[str, Tensor], sentences: Sequence[Sentence]) -> list[dict]:
    """A row for every kind of score, component and token of the prompts: the mean over questions that have the token.

    sentences: the questions, whose words are their tokens.
    """
    layers, parts = scores[KINDS[0]].shape[2:]
    roles = _all_roles(sentences)
    rows = []
    for score, values in scores.items():
        for position, role in enumerate(roles):
            places = [(n, one.roles.index(role)) for n, one in enumerate(sentences) if role in one.roles]
            at = values[tuple(torch.tensor(places).T)]  # [questions, layers, H + 1]
            known = at[~at[:, 0, 0].isnan()]
            means = known.mean(0) if len(known) else None
            about = {"token": role, "position": position, "score": score, "questions": len(known)}
            reason = None if len(known) else "in no question has the token a partner in a counterfactual prompt"
            rows += [
                component(layer, part, parts - 1)
                | about
                | {"value": None if means is None else float(means[layer, part]), "reason": reason}
                for layer in range(layers)
                for part in range(parts)
            ]
    return rows


def _all_roles(sentences: Sequence[Sentence]) -> list[str]:
    """Roles in their order: those of the longest prompt, and between them what only others have."""
    found = list(max((one.roles for one in sentences), key=len))
    for one in sentences:
        for before, role in zip((None, *one.roles), one.roles, strict=False):
            if role not in found:
                found.insert(0 if before is None else found.index(before) + 1, role)
    return found


def component(layer: int, part: int, heads: int) -> dict:
    """What the tables call a component: heads in their order, and after them the MLP."""
    kind = "head" if part < heads else "mlp"
    return {"kind": kind, "layer": layer, "head": part if part < heads else None}


@torch.no_grad()
def effects(of: Contrast) -> dict[str, Tensor]:
    """Rises of R, mean over questions, [layers, H + 1], by effect."""
    whole, seen = run(of.new, of.asked.tokens), inside(of.asked)
    heads = whole.layers[0].context.shape[2]
    components = [(number, head) for number in range(len(whole.layers)) for head in (*range(heads), None)]

    def mean_loss(p: Parameters, shifts: Shifts | None = None) -> Tensor:
        return losses(run(p, of.asked.tokens, shifts).logits, of.asked).double().mean()

    found = {
        "restored": [mean_loss(restored(of.new, of.old, *one)) for one in components],
        "ablated": [mean_loss(of.new, ablation(whole.layers[one[0]], *one, seen)) for one in components],
    }
    before = mean_loss(of.new)
    return {name: torch.stack(values).view(-1, heads + 1) - before for name, values in found.items()}


def ablation(outputs: Layer, layer: int, head: int | None, seen: Tensor) -> Shifts:
    """The shift from a component's output to its mean over all tokens of the prompts. head: None for the MLP."""
    output = outputs.mlp if head is None else outputs.context
    shift = output[seen].mean(0) - output
    if head is None:
        return {(layer, "mlp"): shift}
    return {(layer, "context"): shift * (torch.arange(shift.shape[2]) == head)[:, None]}


def restored(new: Parameters, old: Parameters, layer: int, head: int | None) -> dict[str, Tensor]:
    """The new model with one head's matrices as they were, or, where `head` is None, with the layer's MLP as it was."""
    found = dict(new)

    def has(name: str) -> bool:
        return f"{layer}.{name}" in new

    if head is None:
        return found | {f"{layer}.{name}": old[f"{layer}.{name}"] for name in ("up", "gate", "down") if has(name)}
    heads = new[f"{layer}.query"].shape[1]
    for name in ("query", "key", "value", "query_bias", "key_bias", "value_bias", "output"):
        if not has(name):
            continue
        # Of keys and values that heads share each head gets its own: it alone has the former ones.
        whole, former = (
            one[f"{layer}.{name}"] if name == "output" else each_head(one[f"{layer}.{name}"], heads)
            for one in (new, old)
        )
        matrix, axis = whole.clone(), 0 if name == "output" else whole.dim() - 2
        matrix.select(axis, head).copy_(former.select(axis, head))
        found[f"{layer}.{name}"] = matrix
    return found


def removal_rows(components: Sequence[dict]) -> list[dict]:
    """r between every kind of score and every effect, over heads and over MLPs."""
    rows = []
    for kind in ("head", "mlp"):
        of_kind = [row for row in components if row["kind"] == kind]
        for score in KINDS:
            for effect in EFFECTS:
                r, reason = correlation(*([row[name] for row in of_kind] for name in (score, effect)))
                rows.append(
                    {"kind": kind, "score": score, "effect": effect, "r": r, "n": len(of_kind), "reason": reason}
                )
    return rows


def agreement_rows(scores: dict[str, Tensor], patched: dict[str, Tensor] | None) -> list[dict]:
    """r between scores and full replacement, [n, T, layers, H + 1] by kind: of means over questions, and over all
    questions. The path-averaged score is compared with the replacement that upstream scores stand for. patched: None of
    a model that is too large for it, whose rows have no r."""
    if patched is None:
        layers, parts = scores[KINDS[0]].shape[2:]
        reason = f"{layers * parts} components; outputs are replaced one by one of at most {FEW}"
        return [
            {"kind": kind, "score": score, "over": over, "r": None, "n": 0, "reason": reason}
            for score, kind, over in product(scores, ("head", "mlp"), ("means", "questions"))
        ]
    rows = []
    for score, values in scores.items():
        full = patched["upstream" if score == "upstream_path" else score]
        for kind, part in (("head", slice(None, -1)), ("mlp", slice(-1, None))):
            pair = [one[..., part] for one in (values, full)]
            for over, both in (("means", [known_mean(one) for one in pair]), ("questions", pair)):
                known = both[0].isfinite() & both[1].isfinite()
                r, reason = correlation(*(one[known].tolist() for one in both))
                rows.append(
                    {"kind": kind, "score": score, "over": over, "r": r, "n": int(known.sum()), "reason": reason}
                )
    return rows


def known_mean(values: Tensor) -> Tensor:
    """The mean over the first axis of values that are not NaN; NaN where there are none."""
    known = ~values.isnan()
    return values.masked_fill(~known, 0).sum(0) / known.sum(0)


def correlation(a: Sequence[float], b: Sequence[float]) -> tuple[float | None, str | None]:
    """Pearson's r, or None and why there is none."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(a) < 3:
        return None, f"{len(a)} values; a correlation needs three"
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None, "a value is not finite"
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return None, "all values are the same"
    return float(np.corrcoef(a, b)[0, 1]), None
