"""Which halves of its heads a model needs: every subset exactly, and subsets that hard-concrete gates learn.

With few halves all subsets can be evaluated, so that what pruning finds can be compared with what there is to find.
Gates, their objective and their controller are those of :mod:`heuristic_core.pruning`; here a batch is of lists, and
KL(full || gated) is the mean over their sorted numbers.
"""

from collections.abc import Sequence
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.config.pruning import Gates
from heuristic_core.experiments.list_sorting.ablation import measures
from heuristic_core.experiments.list_sorting.config_prune import PruneRuns
from heuristic_core.experiments.list_sorting.halves import Corners, gated_logits, names, subset_logits, subsets
from heuristic_core.experiments.list_sorting.model import Parameters
from heuristic_core.experiments.list_sorting.tables import SCORES
from heuristic_core.models.components import kept_count
from heuristic_core.pruning.hard_concrete import keep_largest
from heuristic_core.pruning.learner import Learner, PruningRun
from heuristic_core.pruning.loop import Pruned, learned

MOST = 12  # halves whose subsets are all evaluated, 4096 of them
CHUNK = 50  # steps whose draws are made at once
MEASURES = (*SCORES, "kl")


def subset_rows(model: Parameters, lists: Corners, tokens: Tensor) -> list[dict]:
    """Every subset of one model's halves with its :func:`subset_measures`; small subsets first.

    Of a model with more than MOST halves there is one row, with a reason and nothing else.
    """
    heads = lists.contexts.shape[2]
    if 2 * heads > MOST:
        reason = f"of {2 * heads} halves not all subsets are evaluated, but of at most {MOST}"
        return [dict.fromkeys(("kept", "halves", "heads", *MEASURES)) | {"reason": reason}]
    return [
        {"kept": joined(kept, heads), "halves": len(kept), "heads": len({half // 2 for half in kept})}
        | subset_measures(model, lists, tokens, kept)
        | {"reason": None}
        for kept in subsets(2 * heads)
    ]


def subset_measures(model: Parameters, lists: Corners, tokens: Tensor, kept: tuple[int, ...]) -> dict[str, float]:
    """:func:`heuristic_core.experiments.list_sorting.ablation.measures` of a subset, and its KL(full || subset).

    tokens: the sequences that `lists` are of, int64 [B, 2 L + 1]. kl: mean over sorted numbers, nats.
    """
    logits = subset_logits(model, lists, kept)
    full, subset = (F.log_softmax(values.double(), -1) for values in (lists.logits, logits))
    return measures(logits, tokens) | {"kl": float((full.exp() * (full - subset)).sum(-1).mean())}


def mask_rows(
    model: Parameters, pool: Corners, lists: Corners, tokens: Tensor, exact: Sequence[dict], settings: PruneRuns
) -> list[dict]:
    """What every pruning seed keeps of one model, and the rank of that among all subsets of its size.

    pool: training lists that gates are learned on. lists, tokens: as of :func:`subset_measures`. exact: rows of
    :func:`subset_rows`. Ranks are by KL, the lowest first; equal ones share a rank.
    """
    heads = pool.contexts.shape[2]
    runs = [PruningRun(settings.sparsity, seed) for seed in settings.seeds]
    rows = []
    for found in learn(model, pool, runs, settings.gates):
        about = {"prune_seed": found.run.seed, "sparsity": settings.sparsity, "sampled_sparsity": reached(found)}
        if found.failed:
            nothing = dict.fromkeys(("kept", *MEASURES, "best", "rank", "of"))
            rows.append(about | nothing | {"reason": found.failed})
            continue
        kept = tuple(keep_largest(found.log_alpha, kept_count(2 * heads, settings.sparsity)))
        of_subset = subset_measures(model, lists, tokens, kept)
        rows.append(about | {"kept": joined(kept, heads)} | of_subset | ranked(of_subset["kl"], len(kept), exact))
    return rows


def ranked(kl: float, size: int, exact: Sequence[dict]) -> dict:
    """The best subset of a size, the rank of one with this KL, and of how many; None without exact subsets."""
    if exact[0]["reason"]:
        return {"best": None, "rank": None, "of": None, "reason": exact[0]["reason"]}
    alike = [row for row in exact if row["halves"] == size]
    best = min(alike, key=lambda row: row["kl"])
    rank = 1 + sum(row["kl"] < kl for row in alike)
    return {"best": best["kept"], "rank": rank, "of": len(alike), "reason": None}


def learn(model: Parameters, pool: Corners, runs: Sequence[PruningRun], settings: Gates) -> list[Pruned]:
    """Learn log_alpha [2 H] for every run, as :func:`heuristic_core.pruning.prune.prune` does of other models."""
    per_draw = settings.batch_size // settings.gate_draws

    def divergence(z: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        gates, lists = z.detach().requires_grad_(), pool.at(index)
        of_lists = gates[:, None].expand(-1, per_draw, -1).flatten(0, 1)
        gated, full = (F.log_softmax(x, -1) for x in (gated_logits(model, lists, of_lists), lists.logits))
        kl = F.kl_div(gated, full, reduction="none", log_target=True).sum(-1).mean(-1) / settings.batch_size
        kl.sum().backward()
        return kl.detach().view(len(z), -1).sum(-1), gates.grad

    learner = Learner(runs, settings, 2 * pool.contexts.shape[2], torch.device("cpu"))
    return learned(learner, lambda of, draw: of.descend(draw, divergence), len(pool.logits), CHUNK)


def reached(found: Pruned) -> float | None:
    """The mean sparsity of sampled gates over the last tenth of recorded steps; None where none is recorded."""
    sampled = [row["sampled_sparsity"] for row in found.trace]
    return fmean(sampled[-max(1, len(sampled) // 10) :]) if sampled else None


def joined(kept: Sequence[int], heads: int) -> str:
    """The names of some halves, such as qk0+ov1."""
    called = names(heads)
    return "+".join(called[half] for half in kept)
