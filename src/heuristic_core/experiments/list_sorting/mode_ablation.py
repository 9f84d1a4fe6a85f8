"""Ablate what heads copy, or what they suppress.

A head copies the numbers that attending to raises most, and suppresses those that it lowers most, by its OV matrix
(:mod:`circuits`). A mode of a head is ablated by replacing the values of these numbers, wherever they are attended to:
by zero, by the mean value at the position over training lists, or by the value at the position on a training list.
Attention, and the values of all other tokens, do not change. This separates the two functions of one head, which
ablation of the head cannot.
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
                    logits = ablate_numbers(model, tokens, chosen, reference)
                    rows.append(names | {"kind": kind} | compute_measures(logits, tokens))
    return rows


@torch.no_grad()
def ablate_numbers(model: Parameters, tokens: Tensor, chosen: Tensor, reference: Tensor) -> Tensor:
    """Compute the logits of one model with the values of some numbers replaced.

    Args:
        model: Parameters of one model, each [1, ...].
        tokens: Sequences, int64 [B, 2 L + 1].
        chosen: Which numbers of which heads, bool [H, numbers].
        reference: Values [2 L, H, w], the same for all lists; or donors, int64 [B, 2 L + 1], one sequence for every
            list.

    Returns:
        Logits, [B, L, V].
    """
    replace_token = torch.cat([chosen, torch.zeros_like(chosen[:, :1])], 1).T  # the separator stays, [V, H]
    logits = []
    for start in range(0, len(tokens), BATCH):
        batch = tokens[start : start + BATCH]
        forward, new_values = run_models(model, batch), reference
        if not reference.is_floating_point():
            new_values = run_models(model, reference[start : start + BATCH]).values[0]
        replaced = replace_token[batch[:, :-1]][..., None]  # [B, 2 L, H, 1]
        values = torch.where(replaced, new_values, forward.values[0]).transpose(1, 2)
        contexts = (forward.attention[0] @ values).transpose(1, 2)
        logits.append(read_out(model, forward.residual, contexts[None])[0])
    return torch.cat(logits)
