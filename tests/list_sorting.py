"""Tiny list-sorting studies, and one model written plainly, for the tests of the list-sorting experiment."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from heuristic_core.experiments.list_sorting.config import Model, parse
from heuristic_core.experiments.list_sorting.model import initialise_parameters

TINY = {
    "data": {"numbers": 12, "length": 4, "train_lists": 300, "held_out_lists": 40},
    "model": {"width": 10, "head_width": 6},
    "training": {"seeds": [1, 2, 3], "steps": 12, "batch_size": 32, "save_every": 5, "checkpoints": [4, 8]},
}


def study(**blocks):
    """The tiny study with keys of its blocks changed."""
    return parse({name: block | blocks.get(name, {}) for name, block in TINY.items()})


def random_parameters(data, model: Model, seeds=(1, 2)):
    """Parameters in which gains and biases matter, too."""
    rng = torch.Generator().manual_seed(7)
    result = initialise_parameters(data, model, seeds)
    return {k: v + 0.3 * torch.randn(v.shape, generator=rng) for k, v in result.items()}


class Plain(nn.Module):
    """One model, all of whose positions have queries."""

    def __init__(self, parameters: dict, m: int):
        super().__init__()
        self.p = {name: value[m] for name, value in parameters.items()}

    def norm(self, name: str, x):
        if f"{name}_gain" not in self.p:
            return x
        layer = nn.LayerNorm(x.shape[-1], dtype=x.dtype)
        with torch.no_grad():
            layer.weight.copy_(self.p[f"{name}_gain"])
            layer.bias.copy_(self.p.get(f"{name}_bias", torch.zeros(x.shape[-1])))
        return layer(x)

    def forward(self, tokens, without: tuple[int, ...] = (), gates=None, means=None):
        """Logits [B, L, V] of the sorted numbers, without the heads `without`, whose contexts are zero.

        gates: of attention and of values, a pair for each head; what they leave is from `means`, attention [H, L, 2 L]
        and values [2 L, H, w].
        """
        p, length = self.p, tokens.shape[1] // 2
        positions = p.get("position", torch.zeros(tokens.shape[1], 1))
        x = torch.stack([p["token"][t] + positions[i] for i, t in enumerate(tokens.T)], 1)
        seen, out = self.norm("norm", x), x.clone()
        for h in range(len(p["query"])):
            if h in without:
                continue
            q, k, v = (
                seen @ p[n][h] + (p[f"{n}_bias"][h] if f"{n}_bias" in p else 0) for n in ("query", "key", "value")
            )
            if gates is not None:
                v = torch.cat([gates[h][1] * v[:, :-1] + (1 - gates[h][1]) * means.values[:, h], v[:, -1:]], 1)
            for i in range(tokens.shape[1]):
                scores = (q[:, i : i + 1] * k[:, : i + 1]).sum(-1) / math.sqrt(q.shape[-1])
                shares = F.softmax(scores, -1)
                if gates is not None and length <= i < 2 * length:
                    shares = gates[h][0] * shares + (1 - gates[h][0]) * means.attention[h, i - length, : i + 1]
                context = (shares[..., None] * v[:, : i + 1]).sum(1)
                out[:, i] = out[:, i] + context @ p["output"][h]
        out = self.norm("final", out + p.get("output_bias", 0))
        return (out @ p["unembed"] + p.get("unembed_bias", 0))[:, length:-1]
