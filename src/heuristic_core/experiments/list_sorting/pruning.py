"""Prune the halves of heads: evaluate every subset, and learn subsets with hard-concrete gates.

With few halves all subsets can be evaluated, so what pruning finds can be compared with the best subset. Gates, their
objective and their controller are those of :mod:`heuristic_core.pruning`; here a batch is of lists, and
KL(full || gated) is the mean over their sorted numbers.
"""

from collections.abc import Sequence
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.config.pruning import Gates
from heuristic_core.experiments.list_sorting.ablation import compute_measures
from heuristic_core.experiments.list_sorting.config_prune import PruneRuns
from heuristic_core.experiments.list_sorting.halves import (
    Corners,
    gate_names,
    gated_logits,
    half_subsets,
    subset_logits,
)
from heuristic_core.experiments.list_sorting.model import Parameters
from heuristic_core.experiments.list_sorting.tables import SCORES
from heuristic_core.models.components import kept_count
from heuristic_core.pruning.hard_concrete import keep_largest
from heuristic_core.pruning.learner import Learner, PruningRun
from heuristic_core.pruning.loop import PruningResult, fit

MAX_HALVES = 12  # largest number of halves whose subsets are all evaluated, 4096
DRAW_STEPS = 50  # steps per chunk of random draws
MEASURES = (*SCORES, "kl")


def subset_rows(model: Parameters, lists: Corners, tokens: Tensor) -> list[dict]:
    """Evaluate every subset of one model's halves with :func:`subset_measures`; small subsets first.

    A model with more than `MAX_HALVES` halves has one row, with a reason and no values.

    Args:
        model: Parameters of one model, each [1, ...].
        lists: Corners of B lists.
        tokens: Sequences of these lists, int64 [B, 2 L + 1].
    """
    heads = lists.contexts.shape[2]
    if 2 * heads > MAX_HALVES:
        reason = f"of {2 * heads} halves not all subsets are evaluated, but of at most {MAX_HALVES}"
        return [dict.fromkeys(("kept", "halves", "heads", *MEASURES)) | {"reason": reason}]
    return [
        {"kept": _join_names(kept, heads), "halves": len(kept), "heads": len({half // 2 for half in kept})}
        | subset_measures(model, lists, tokens, kept)
        | {"reason": None}
        for kept in half_subsets(2 * heads)
    ]


def subset_measures(model: Parameters, lists: Corners, tokens: Tensor, kept: tuple[int, ...]) -> dict[str, float]:
    """Measure a subset: see :func:`.ablation.compute_measures`; and KL(full || subset).

    Args:
        model: Parameters of one model, each [1, ...].
        lists: Corners of B lists.
        tokens: Sequences of these lists, int64 [B, 2 L + 1].
        kept: Halves that the subset keeps.

    Returns:
        The measures, and kl: mean over sorted numbers, nats.
    """
    logits = subset_logits(model, lists, kept)
    full, subset = (F.log_softmax(values.double(), -1) for values in (lists.logits, logits))
    return compute_measures(logits, tokens) | {"kl": float((full.exp() * (full - subset)).sum(-1).mean())}


def mask_rows(
    model: Parameters, pool: Corners, lists: Corners, tokens: Tensor, exact: Sequence[dict], settings: PruneRuns
) -> list[dict]:
    """Return the subset that each pruning seed keeps of one model, and its rank among all subsets of its size.

    Ranks are by KL, the lowest first; equal values share a rank.

    Args:
        model: Parameters of one model, each [1, ...].
        pool: Training lists that gates are learned on.
        lists: Held-out lists; see :func:`subset_measures`.
        tokens: Sequences of the held-out lists, int64 [B, 2 L + 1].
        exact: Rows of :func:`subset_rows`.
        settings: Settings of pruning.
    """
    heads = pool.contexts.shape[2]
    runs = [PruningRun(settings.sparsity, seed) for seed in settings.seeds]
    rows = []
    for result in learn(model, pool, runs, settings.gates):
        columns = {
            "prune_seed": result.run.seed,
            "sparsity": settings.sparsity,
            "sampled_sparsity": _mean_sampled_sparsity(result),
        }
        if result.failure:
            no_values = dict.fromkeys(("kept", *MEASURES, "best", "rank", "of"))
            rows.append(columns | no_values | {"reason": result.failure})
            continue
        kept = tuple(keep_largest(result.log_alpha, kept_count(2 * heads, settings.sparsity)))
        values = subset_measures(model, lists, tokens, kept)
        rows.append(columns | {"kept": _join_names(kept, heads)} | values | rank_subset(values["kl"], len(kept), exact))
    return rows


def rank_subset(kl: float, size: int, exact: Sequence[dict]) -> dict:
    """Return the best subset of a size, the rank of a subset with this KL, and the number of subsets.

    All are None without exact subsets.

    Args:
        kl: KL(full || subset) of the subset, nats.
        size: Number of its halves.
        exact: Rows of :func:`subset_rows`.
    """
    if exact[0]["reason"]:
        return {"best": None, "rank": None, "of": None, "reason": exact[0]["reason"]}
    candidates = [row for row in exact if row["halves"] == size]
    best = min(candidates, key=lambda row: row["kl"])
    rank = 1 + sum(row["kl"] < kl for row in candidates)
    return {"best": best["kept"], "rank": rank, "of": len(candidates), "reason": None}


def learn(model: Parameters, pool: Corners, runs: Sequence[PruningRun], settings: Gates) -> list[PruningResult]:
    """Learn log_alpha [2 H] for every run, as :func:`heuristic_core.pruning.prune.prune` does for other models.

    Args:
        model: Parameters of one model, each [1, ...].
        pool: Corners of the training lists.
        runs: The subsets to find.
        settings: Settings of the gates.
    """
    per_draw = settings.batch_size // settings.gate_draws

    def divergence(z: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        gates, lists = z.detach().requires_grad_(), pool.select(index)
        list_gates = gates[:, None].expand(-1, per_draw, -1).flatten(0, 1)
        gated, full = (F.log_softmax(x, -1) for x in (gated_logits(model, lists, list_gates), lists.logits))
        kl = F.kl_div(gated, full, reduction="none", log_target=True).sum(-1).mean(-1) / settings.batch_size
        kl.sum().backward()
        return kl.detach().view(len(z), -1).sum(-1), gates.grad

    learner = Learner(runs, settings, 2 * pool.contexts.shape[2], torch.device("cpu"))
    return fit(learner, lambda learner, draw: learner.compute_gradients(draw, divergence), len(pool.logits), DRAW_STEPS)


def _mean_sampled_sparsity(result: PruningResult) -> float | None:
    """Return the mean sparsity of sampled gates over the last tenth of recorded steps; None without records."""
    sampled = [row["sampled_sparsity"] for row in result.trace]
    return fmean(sampled[-max(1, len(sampled) // 10) :]) if sampled else None


def _join_names(kept: Sequence[int], heads: int) -> str:
    """Return the names of some halves, such as qk0+ov1."""
    labels = gate_names(heads)
    return "+".join(labels[half] for half in kept)
