"""What models lose without what their heads copy, or without what they suppress.

A head copies the numbers that attending to raises most, and suppresses those that it lowers most, by its OV matrix
(:mod:`circuits`). A mode of a head is ablated by replacing the values of these numbers, wherever they are attended to:
by zero, by the mean value at the position over training lists, or by the value at the position on a training list.
Attention, and the values of all other tokens, stay as they are. So one head's two functions are told apart, as ablation
of the whole head cannot.
"""

import torch
from torch import Tensor

from heuristic_core.experiments.list_sorting.ablation import BATCH, donors_for, measures, sets_of
from heuristic_core.experiments.list_sorting.halves import half_means
from heuristic_core.experiments.list_sorting.model import Parameters, read_out, run
from heuristic_core.experiments.list_sorting.modes import COPYING, SUPPRESSION

MODES = (COPYING, SUPPRESSION)


@torch.no_grad()
def mode_ablations(
    parameters: Parameters, tokens: Tensor, training: Tensor, numbers: dict[str, Tensor], seed: int
) -> list[dict]:
    """One row per model, mode, set of heads and kind: `model`, its position; `mode`; `kind`; `ablated`, the heads;
    `replaced`, how many numbers of them; and what :func:`.ablation.measures` says.

    tokens, training, seed: as of :func:`.ablation.ablations`. numbers: of every mode, bool [M, H, numbers].
    """
    donors, rows = donors_for(tokens, training, seed), []
    for m in range(len(parameters["output"])):
        model = {name: value[m : m + 1] for name, value in parameters.items()}
        means = half_means(model, training).values
        replacing = {"zero": torch.zeros_like(means), "mean": means, "resample": donors}
        for mode in MODES:
            for ablated in sets_of(numbers[mode].shape[1]):
                chosen = torch.zeros_like(numbers[mode][m])
                chosen[ablated] = numbers[mode][m, ablated]
                about = {"model": m, "mode": mode, "ablated": ablated, "replaced": int(chosen.sum())}
                for kind, reference in replacing.items():
                    found = without_numbers(model, tokens, chosen, reference)
                    rows.append(about | {"kind": kind} | measures(found, tokens))
    return rows


@torch.no_grad()
def without_numbers(model: Parameters, tokens: Tensor, chosen: Tensor, reference: Tensor) -> Tensor:
    """Logits [B, L, V] of one model in which the values of some numbers are replaced.

    chosen: of which head and number, bool [H, numbers]. reference: values, [2 L, H, w], the same for all lists; or
    donors, int64 [B, 2 L + 1], one sequence for every list.
    """
    of_token = torch.cat([chosen, torch.zeros_like(chosen[:, :1])], 1).T  # the separator stays, [V, H]
    found = []
    for start in range(0, len(tokens), BATCH):
        part = tokens[start : start + BATCH]
        own, other = run(model, part), reference
        if not reference.is_floating_point():
            other = run(model, reference[start : start + BATCH]).values[0]
        replaced = of_token[part[:, :-1]][..., None]  # [B, 2 L, H, 1]
        values = torch.where(replaced, other, own.values[0]).transpose(1, 2)
        contexts = (own.attention[0] @ values).transpose(1, 2)
        found.append(read_out(model, own.residual, contexts[None])[0])
    return torch.cat(found)
