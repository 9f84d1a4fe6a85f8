"""Gradient-based importance of components: pruning without learning, as a control for learned pruning.

Importance is that of Michel, Levy and Neubig (2019, "Are Sixteen Heads Really Better than One?"):
I_c = E_x |d loss / d gate_c| at gates of 1, normalised within each layer by its Euclidean norm.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.models.ablation import Ablation, ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.micro_batches import pass_tokens
from heuristic_core.models.model import Model


def gate_gradients(model: Model, pairs: PairTensors, means: ComponentMeans) -> Tensor:
    """Compute E_x |d loss / d gate| of every component on `pairs`.

    The loss is the cross-entropy of a pair's label. A gate mixes a component's output with its mean,
    gate * (x - mean) + mean, as in all ablations here; in the paper it multiplies the output, gate * x. Absolute values
    are taken pair by pair, before the mean.

    Args:
        model: The full model.
        pairs: Labelled pairs.
        means: Component means.

    Returns:
        float64 [components], on the host.
    """
    means = means.to(model)
    total = torch.zeros(len(model.grid), dtype=torch.float64)
    for index in pairs.split_by_length(pass_tokens(model.device.type, model.hidden)):
        # Separate gates per pair, so that one backward pass gives each pair's gradient.
        gates = torch.ones(len(index), len(model.grid), device=model.device, requires_grad=True)
        logits = model.logits(pairs.batch(index), Ablation(gates, means, model.grid))
        loss = F.cross_entropy(logits, pairs.labels[pairs.to_device(index)], reduction="sum")
        (gradient,) = torch.autograd.grad(loss, gates)
        total += gradient.abs().sum(0).cpu()
    return total / len(pairs)


def normalise_by_layer(gradients: Tensor, grid: ComponentGrid) -> Tensor:
    """Divide gradients by the Euclidean norm of each layer's heads, and of all MLPs together.

    A group of zeros stays zero.

    Args:
        gradients: Gradients [components].
        grid: Components of the model.
    """
    heads, mlps = gradients.split([grid.layers * grid.heads, grid.layers])
    groups = (F.normalize(heads.view(grid.layers, grid.heads), dim=-1), F.normalize(mlps, dim=-1))
    return torch.cat([group.flatten() for group in groups])
