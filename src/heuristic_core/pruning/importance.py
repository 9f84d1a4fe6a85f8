"""Which components matter by gradients: a pruning that learns nothing, as a control for pruning that does.

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
    """E_x |d loss / d gate| of every component on `pairs`, float64 [components], on the host.

    loss: cross-entropy of a pair's own label, a class of the model. A gate mixes a component's output with its mean,
    gate * (x - mean) + mean, as everywhere here; in the paper it multiplies the output, gate * x. Absolute values are
    taken pair by pair, before the mean.
    """
    means = means.to(model)
    total = torch.zeros(len(model.grid), dtype=torch.float64)
    for index in pairs.by_length(pass_tokens(model.device.type, model.hidden)):
        # Every pair has gates of its own, so that one backward pass gives each pair's gradient.
        gates = torch.ones(len(index), len(model.grid), device=model.device, requires_grad=True)
        logits = model.logits(pairs.batch(index), Ablation(gates, means, model.grid))
        loss = F.cross_entropy(logits, pairs.labels[pairs.on_device(index)], reduction="sum")
        (gradient,) = torch.autograd.grad(loss, gates)
        total += gradient.abs().sum(0).cpu()
    return total / len(pairs)


def normalised(gradients: Tensor, grid: ComponentGrid) -> Tensor:
    """`gradients` [components], the heads of each layer divided by their Euclidean norm, and so all MLPs together.

    Where all are 0 they stay so.
    """
    heads, mlps = gradients.split([grid.layers * grid.heads, grid.layers])
    groups = (F.normalize(heads.view(grid.layers, grid.heads), dim=-1), F.normalize(mlps, dim=-1))
    return torch.cat([group.flatten() for group in groups])
