"""Ablate what heads copy, or what they suppress.

Which numbers a head copies, and which it suppresses, is by its effects (:mod:`effects`). A mode of a head is ablated by
replacing the values of these numbers in the list: of copied numbers where they are next, of suppressed numbers where
another number is next. Replacements are zero, the mean value at the position over training lists, or the value at the
position on a training list. Attention, and all other values, do not change. This separates the two functions of one
head, which ablation of the head cannot.
"""

import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.ablation import BATCH, compute_measures, draw_donors, head_sets
from heuristic_core.experiments.list_sorting.halves import compute_half_means
from heuristic_core.experiments.list_sorting.model import Parameters, read_out, run_models
from heuristic_core.experiments.list_sorting.modes import COPYING, SUPPRESSION

HEAD_MODES = (COPYING, SUPPRESSION)


@torch.no_grad()
def measure_mode_ablations(
    parameters: Parameters, tokens: Tensor, training: Tensor, numbers: dict[str, Tensor], seed: int
) -> list[dict]:
    """Measure every model with each mode of each set of heads ablated.

    Args:
        parameters: Parameters of M models.
        tokens: Held-out sequences; see :func:`.ablation.measure_ablations`.
        training: Training sequences; see :func:`.ablation.measure_ablations`.
        numbers: Numbers of every mode, bool [M, H, numbers].
        seed: Seed of the resampled values.

    Returns:
        One row per model, mode, set of heads and kind: `model`, its index; `mode`; `kind`; `ablated`, the heads;
        `replaced`, how many of their numbers; and the values of :func:`.ablation.compute_measures`.
    """
    donors, rows = draw_donors(tokens, training, seed), []
    for m in range(len(parameters["output"])):
        model = {name: value[m : m + 1] for name, value in parameters.items()}
        means = compute_half_means(model, training).values
        references = {"zero": torch.zeros_like(means), "mean": means, "resample": donors}
        for mode in HEAD_MODES:
            for ablated in head_sets(numbers[mode].shape[1]):
                chosen = torch.zeros_like(numbers[mode][m])
                chosen[ablated] = numbers[mode][m, ablated]
                names = {"model": m, "mode": mode, "ablated": ablated, "replaced": int(chosen.sum())}
                for kind, reference in references.items():
                    logits = ablate_numbers(model, tokens, chosen, mode == COPYING, reference)
                    rows.append(names | {"kind": kind} | compute_measures(logits, tokens))
    return rows


@torch.no_grad()
def ablate_numbers(model: Parameters, tokens: Tensor, chosen: Tensor, where_next: bool, reference: Tensor) -> Tensor:
    """Compute the logits of one model with the values of some numbers of the list replaced.

    Args:
        model: Parameters of one model, each [1, ...].
        tokens: Sequences, int64 [B, 2 L + 1].
        chosen: Which numbers of which heads, bool [H, numbers].
        where_next: Whether values are replaced for the prediction of the number itself, or for all others.
        reference: Values [2 L, H, w], the same for all lists; or donors, int64 [B, 2 L + 1], one sequence for every
            list.

    Returns:
        Logits, [B, L, V].
    """
    length, logits = tokens.shape[1] // 2, []
    for start in range(0, len(tokens), BATCH):
        batch = tokens[start : start + BATCH]
        forward, new_values = run_models(model, batch), reference
        if not reference.is_floating_point():
            new_values = run_models(model, reference[start : start + BATCH]).values[0]
        keys = batch[:, :length]
        is_next = batch[:, length + 1 :, None] == keys[:, None]  # [B, L predictions, L keys]
        replaced = chosen[:, keys].transpose(0, 1)[:, :, None] & (is_next == where_next)[:, None]  # [B, H, L, L]
        weights = forward.attention[0, ..., :length] * replaced
        change = (new_values - forward.values[0])[:, :length].transpose(1, 2)  # [B, H, L, w]
        contexts = forward.contexts[0] + (weights @ change).transpose(1, 2)
        logits.append(read_out(model, forward.residual, contexts[None])[0])
    return torch.cat(logits)
