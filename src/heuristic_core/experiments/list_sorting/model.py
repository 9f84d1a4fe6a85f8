"""A transformer of one attention layer that sorts lists, for many models at once.

The parameters of M models are a dict of tensors whose first axis is the model. Names and shapes, with vocabulary
V = numbers + 1 (the last token is the separator), width d, H heads of width w, and 2 L + 1 positions:

token [M, V, d], position [M, 2 L + 1, d]; norm_gain and norm_bias [M, d]; query, key and value [M, H, d, w] and their
biases [M, H, w]; output [M, H, w, d], output_bias [M, d]; final_gain and final_bias [M, d]; unembed [M, d, V],
unembed_bias [M, V]. The last position is only predicted, and its row is never read.

A model without positions lacks `position`, one without LayerNorm the `norm_` and `final_` parameters, one without
biases the `_bias` parameters.

Keys, values and queries depend only on a token and its position. They are
therefore computed once for every such pair, V x 2 L rows, and looked up for the lists, which have more tokens.
Only the positions that predict a sorted number, from the separator on, have queries.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.list_sorting.config import Data, Model

Parameters = Mapping[str, Tensor]
EPSILON = 1e-5  # epsilon of the LayerNorms


class HeadReplacement(NamedTuple):
    """A replacement of heads' contexts: ``keep * (context - reference) + reference``.

    Attributes:
        keep: 1 keeps a head, 0 replaces it; broadcasts against [M, B, L, H].
        reference: Contexts of replaced heads; broadcasts against [M, B, L, H, w].
    """

    keep: Tensor
    reference: Tensor


class ForwardPass(NamedTuple):
    """Results of a forward pass.

    Attributes:
        logits: Logits of the sorted numbers, [M, B, L, V].
        attention: Attention, [M, B, H, L, 2 L].
        contexts: Heads' contexts before any intervention, [M, B, L, H, w].
        values: Values of the keys, [M, B, 2 L, H, w].
        residual: The stream that heads write to, including the output's bias, [M, B, L, d].
    """

    logits: Tensor
    attention: Tensor
    contexts: Tensor
    values: Tensor
    residual: Tensor


def parameter_shapes(data: Data, model: Model) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter of one model, by name.

    Args:
        data: Range and length of the lists.
        model: Heads and widths of the model.
    """
    tokens, positions, d = data.numbers + 1, 2 * data.length + 1, model.width
    head = (model.heads, d, model.head_width)
    sizes = {"token": (tokens, d), "position": (positions, d), "norm_gain": (d,), "norm_bias": (d,)}
    sizes |= {"query": head, "key": head, "value": head}
    sizes |= {f"{name}_bias": (model.heads, model.head_width) for name in ("query", "key", "value")}
    sizes |= {"output": (model.heads, model.head_width, d), "output_bias": (d,), "final_gain": (d,), "final_bias": (d,)}
    sizes |= {"unembed": (d, tokens), "unembed_bias": (tokens,)}
    missing_prefixes = (() if model.layer_norm else ("norm_", "final_")) + (() if model.positions else ("position",))
    return {
        name: shape
        for name, shape in sizes.items()
        if not name.startswith(missing_prefixes) and (model.biases or not name.endswith("_bias"))
    }


def initialise_parameters(data: Data, model: Model, seeds: Sequence[int]) -> dict[str, Tensor]:
    """Initialise one model per seed: matrices normal with standard deviation 0.8 / sqrt(width), gains 1, biases 0.

    This is the initialisation of TransformerLens, which ARENA's model used.

    Args:
        data: Numbers and length of the lists, which determine vocabulary and positions.
        model: Sizes of the model, and whether it has LayerNorm and biases.
        seeds: Seeds of the M models.

    Returns:
        Parameters by name, each [M, ...].
    """
    parameters = {}
    for name, shape in parameter_shapes(data, model).items():
        if name.endswith("_gain"):
            parameters[name] = torch.ones(len(seeds), *shape)
        elif name.endswith("_bias"):
            parameters[name] = torch.zeros(len(seeds), *shape)
        else:
            std = 0.8 / math.sqrt(model.width)
            draws = [torch.normal(0.0, std, shape, generator=torch_generator(f"list sorting {name}", s)) for s in seeds]
            parameters[name] = torch.stack(draws)
    return parameters


def compute_logits(parameters: Parameters, tokens: Tensor, heads: HeadReplacement | None = None) -> Tensor:
    """Compute logits [M, B, L, V] of the L sorted numbers.

    Args:
        parameters: Parameters of M models.
        tokens: Complete sequences, int64 [B, 2 L + 1] or [M, B, 2 L + 1].
        heads: Replacement of heads' contexts, if any.
    """
    return run_models(parameters, tokens, heads).logits


def run_models(parameters: Parameters, tokens: Tensor, heads: HeadReplacement | None = None) -> ForwardPass:
    """Run every model on sequences, and return what its heads did.

    Args:
        parameters: Parameters of M models.
        tokens: Complete sequences, int64 [B, 2 L + 1] or [M, B, 2 L + 1].
        heads: Replacement of heads' contexts, if any.
    """
    return _attend(parameters, *_look_up(parameters, tokens), heads)


def read_out(p: Parameters, residual: Tensor, contexts: Tensor) -> Tensor:
    """Compute logits [M, B, L, V] from heads' contexts and the residual stream of :class:`ForwardPass`.

    Args:
        p: Parameters of M models.
        residual: Residual stream, [M, B, L, d].
        contexts: Heads' contexts, [M, B, L, H, w].
    """
    m, b, length, d = residual.shape
    flat_contexts = contexts.reshape(m, b * length, -1)
    final = torch.baddbmm(residual.reshape(m, b * length, d), flat_contexts, p["output"].flatten(1, 2))
    if "final_gain" in p:
        final = F.layer_norm(final, (d,), eps=EPSILON)
    matrix, bias = fold_unembedding(p)
    logits_flat = final @ matrix if bias is None else torch.baddbmm(bias[:, None], final, matrix)
    return logits_flat.view(m, b, length, -1)


def compute_losses(parameters: Parameters, tokens: Tensor) -> Tensor:
    """Compute the cross-entropy of every list, mean over its L sorted numbers, nats, [M, B].

    Args:
        parameters: Parameters of M models.
        tokens: Complete sequences; see :func:`compute_logits`.
    """
    outputs = compute_logits(parameters, tokens)
    m, b, length, _ = outputs.shape
    targets = tokens[..., length + 1 :].expand(m, b, length)
    cross_entropies = F.cross_entropy(outputs.flatten(0, 2), targets.flatten(), reduction="none")
    return cross_entropies.view(m, b, length).mean(-1)


def embed_tokens(p: Parameters) -> tuple[Tensor, Tensor]:
    """Embed every token at every position that is read, [M, 2 L, V, d]; [M, 1, V, d] without positions.

    Returns:
        The residual stream, and what attention sees of it.
    """
    residual = p["token"][:, None]
    if (position := p.get("position")) is not None:
        residual = residual + position[:, :-1, None]
    if (gain := p.get("norm_gain")) is None:
        return residual, residual
    seen = F.layer_norm(residual, residual.shape[-1:], eps=EPSILON) * gain[:, None, None]
    bias = p.get("norm_bias")
    return residual, seen if bias is None else seen + bias[:, None, None]


def fold_unembedding(p: Parameters) -> tuple[Tensor, Tensor | None]:
    """Return the unembedding [M, d, V] and bias [M, V], with the final LayerNorm's gain and bias folded in."""
    matrix, bias = p["unembed"], p.get("unembed_bias")
    if (gain := p.get("final_gain")) is None:
        return matrix, bias
    if (shift := p.get("final_bias")) is not None:
        bias = bias + (shift[:, None] @ matrix)[:, 0]
    return gain[..., None] * matrix, bias


def project_rows(rows: Tensor, p: Parameters, *names: str) -> Tensor:
    """Compute queries, keys or values of rows, side by side: [M, n, names x H w].

    Args:
        rows: Inputs of the attention layer after its norm, [M, n, d].
        p: Parameters of M models.
        *names: One or more of "query", "key" and "value".
    """
    matrix = torch.cat([p[name].transpose(1, 2).flatten(2) for name in names], -1)
    if f"{names[0]}_bias" not in p:
        return rows @ matrix
    return torch.baddbmm(torch.cat([p[f"{name}_bias"].flatten(1) for name in names], -1)[:, None], rows, matrix)


def causal_mask(length: int) -> Tensor:
    """Return the causal mask that is added to scores, [L, 2 L]: -inf if the key comes after the query, else 0."""
    return torch.full((length, 2 * length), -torch.inf).triu(length + 1)


def _look_up(p: Parameters, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Look up keys and values [M, B, 2 L, 2 H w], and queries beside the residual stream [M, B, L, H w + d]."""
    keys, vocabulary = tokens.shape[-1] - 1, p["token"].shape[1]
    residual, seen = (rows.expand(-1, keys, -1, -1) for rows in embed_tokens(p))
    length = keys // 2
    keys_values = project_rows(seen.flatten(1, 2), p, "key", "value")
    queries = project_rows(seen[:, length:].flatten(1, 2), p, "query") * p["query"].shape[-1] ** -0.5
    residual = residual[:, length:].flatten(1, 2)
    if "output_bias" in p:
        residual = residual + p["output_bias"][:, None]
    return (
        _rows(keys_values, tokens[..., :keys], vocabulary),
        _rows(torch.cat([queries, residual], -1), tokens[..., length:keys], vocabulary),
    )


def _rows(table: Tensor, tokens: Tensor, vocabulary: int) -> Tensor:
    """Return rows [M, B, positions, n] of a table [M, positions x V, n] for tokens [(M,) B, positions]."""
    m, size, _ = table.shape
    index = tokens + vocabulary * torch.arange(tokens.shape[-1]) + size * torch.arange(m)[:, None, None]
    return F.embedding(index, table.flatten(0, 1))


def _attend(p: Parameters, keys_values: Tensor, queries_residual: Tensor, heads: HeadReplacement | None) -> ForwardPass:
    """Compute attention, contexts and logits."""
    m, h, w, d = p["output"].shape
    b, length = queries_residual.shape[1:3]
    parts = keys_values.flatten(0, 1).split(w, -1)
    *queries, residual = queries_residual.flatten(0, 1).split([w] * h + [d], -1)
    scores = torch.stack([q @ k.mT for q, k in zip(queries, parts[:h], strict=True)])
    attention = torch.softmax(scores + causal_mask(length), -1)  # [H, M B, L, 2 L]
    contexts = torch.cat([a @ v for a, v in zip(attention, parts[h:], strict=True)], -1).view(m, b, length, h, w)
    replaced = contexts if heads is None else torch.lerp(heads.reference, contexts, heads.keep[..., None])
    residual = residual.view(m, b, length, d)
    return ForwardPass(
        read_out(p, residual, replaced),
        attention.view(h, m, b, length, 2 * length).permute(1, 2, 0, 3, 4),
        contexts,
        keys_values[..., h * w :].unflatten(-1, (h, w)),
        residual,
    )
