"""Parameters of a decoder: their names, shapes and initial values.

Parameters are a dict of tensors. Names and shapes, with vocabulary V, width d and H heads of width w = d / H: token
[V, d], position [P, d], unembed [d, V]; of layer l "l.query", "l.key" and "l.value" [d, H, w], "l.output" [H, w, d],
"l.up" [d, m] and "l.down" [m, d]. A model that was pre-trained elsewhere (:mod:`.decoders`) can have more parameters,
and their presence determines what it computes: "l.gate" [d, m], biases such as "l.query_bias" [H, w], gains of RMSNorms
before and after attention and MLP [d] (if missing: LayerNorm without gain), fewer key and value heads than query heads,
and constants, whose names begin with "fixed." and which training never changes.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.extractive_structures.config import Model

Parameters = Mapping[str, Tensor]
CONSTANT_PREFIX = "fixed."  # prefix of the names of constants
INITIAL_STD = 0.02


def select_weights(p: Parameters, which: str) -> set[str]:
    """Return the names of the weights that training changes.

    Args:
        p: Parameters.
        which: "layers" for the weights of all layers, "all" for those before and after the layers, too.

    Returns:
        Names of weights, never of constants.
    """
    if which == "layers":
        return select_layers(p, range(count_layers(p)))
    return {name for name in p if not name.startswith(CONSTANT_PREFIX)}


def select_layers(p: Parameters, layers: range) -> set[str]:
    """Return the names of the weights of some layers.

    Args:
        p: Parameters.
        layers: Numbers of the layers, from 0.
    """
    return {name for name in p if name.split(".")[0] in set(map(str, layers))}


def parameter_shapes(model: Model, vocabulary: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter by name.

    Args:
        model: Number of layers, heads and positions, and the width.
        vocabulary: Number of tokens.
    """
    d, h = model.width, model.heads
    by_name = {"token": (vocabulary, d), "position": (model.positions, d)}
    for layer in range(model.layers):
        by_name |= {f"{layer}.{name}": (d, h, d // h) for name in ("query", "key", "value")}
        by_name |= {f"{layer}.output": (h, d // h, d), f"{layer}.up": (d, 4 * d), f"{layer}.down": (4 * d, d)}
    return by_name | {"unembed": (d, vocabulary)}


def init_parameters(model: Model, vocabulary: int, seed: int) -> dict[str, Tensor]:
    """Draw initial weights from normal distributions.

    The standard deviation of matrices that write to the residual stream is divided by the square root of their number.

    Args:
        model: Sizes of the model.
        vocabulary: Number of tokens.
        seed: Seed of the draws; each matrix has a generator of its own.
    """
    writers = math.sqrt(2 * model.layers)
    return {
        name: torch.normal(
            0.0,
            INITIAL_STD / writers if name.endswith((".output", ".down")) else INITIAL_STD,
            shape,
            generator=torch_generator(f"extractive {name}", seed),
        )
        for name, shape in parameter_shapes(model, vocabulary).items()
    }


def count_layers(p: Parameters) -> int:
    """Return the number of layers."""
    return sum(name.endswith(".up") for name in p)
