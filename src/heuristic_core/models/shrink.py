"""Remove heads and MLPs from a Hugging Face model, with constants in their place.

The constant output of a removed component (its mean, or zero) is folded into a bias, so that the result computes the
same as the masked model. Configurations of Hugging Face architectures have one number of heads for all layers, so a
checkpoint that loads without this code keeps the original's shape (`zero_components`). The physically smaller model
(`shrink`) exists in memory only, for evaluation of hooked models.
"""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from heuristic_core.common.errors import InputError
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.families import Family, get_family, input_width
from heuristic_core.models.head_weights import head_rows, projection_rows, weight_matrix

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@torch.no_grad()
def shrink(model: "PreTrainedModel", removed: Sequence[int], heads: Tensor, mlps: Tensor) -> "PreTrainedModel":
    """Return a smaller copy of `model` without the components at the indices `removed`.

    A head's rows and columns of queries, keys, values and the output projection are removed; a removed MLP has an inner
    width of zero. With grouped-query attention, each remaining head gets its own copy of keys and values. A layer that
    loses all heads keeps one, multiplied by zero, as attention cannot run without heads.

    Args:
        model: A ``PreTrainedModel`` for sequence classification.
        removed: Component indices.
        heads: Constant output of each head if removed, [layers, H, dh].
        mlps: Constant output of each MLP if removed, [layers, d].
    """
    smaller, family, grid = _unshared_copy(model), get_family(model.config.model_type), _grid(model)
    for number, layer in enumerate(family.layers(smaller)):
        removed_heads = [h for h in range(grid.heads) if number * grid.heads + h in removed]
        if removed_heads:
            _cut_heads(layer, family, removed_heads, grid.heads, heads[number])
        if grid.layers * grid.heads + number in removed:
            _cut_mlp(layer, family, mlps[number])
    return smaller


@torch.no_grad()
def zero_components(model: "PreTrainedModel", removed: Sequence[int], heads: Tensor, mlps: Tensor) -> "PreTrainedModel":
    """Return a copy of a model with its original architecture that computes the subnetwork.

    ``from_pretrained`` loads what its ``save_pretrained`` writes, without code of this project. The copy has the
    original's shape; removed components are multiplied by zero.

    Args:
        model: A ``PreTrainedModel`` for sequence classification.
        removed: Component indices.
        heads: Constant output of each head if removed, [layers, H, dh].
        mlps: Constant output of each MLP if removed, [layers, d].

    Raises:
        InputError: There are constants, and the architecture has no bias that can hold them.
    """
    masked, family, grid = _unshared_copy(model), get_family(model.config.model_type), _grid(model)
    constants: dict[tuple[str, int], Tensor] = {}  # by (path of the module in a layer, layer)
    for number, layer in enumerate(family.layers(masked)):
        output, down = layer.get_submodule(family.output), layer.get_submodule(family.down)
        removed_heads = [h for h in range(grid.heads) if number * grid.heads + h in removed]
        if removed_heads:
            columns = head_rows(removed_heads, input_width(output) // grid.heads)
            constants[family.output, number] = (
                weight_matrix(output)[:, columns] @ heads[number][removed_heads].flatten()
            )
            weight_matrix(output)[:, columns] = 0
        if grid.layers * grid.heads + number in removed:
            weight_matrix(down).zero_()
            if down.bias is not None:
                down.bias.zero_()
            # With "output", only the MLP reads the sum after attention, so the constant can be added there.
            target = (family.output if family.down_bias == "output" else family.down, number)
            constants[target] = constants.get(target, 0) + mlps[number]
    return _add_constants(masked, family, {target: value for target, value in constants.items() if value.any()})


def _add_constants(model, family: Family, constants: dict[tuple[str, int], Tensor]):
    """Put `constants` into the biases of `model`, adding biases where its config allows."""
    flags = {family.output: family.output_bias, family.down: family.down_bias}
    required = [flags[path] for path, _ in constants]
    if None in required:
        raise InputError(
            f"{type(model).__name__} has no bias that can hold the mean of a removed component; "
            "evaluate this subnetwork with workflow/scripts/evaluate.py, or use zero instead of means"
        )
    model = _add_biases(model, [flag for flag in required if flag != "always"])
    layers = family.layers(model)
    for (path, number), constant in constants.items():
        _add_bias(layers[number].get_submodule(path), constant)
    return model


def _unshared_copy(model):
    """Return a deep copy in which no two layers share weights."""
    config = copy.deepcopy(model.config)
    if config.model_type != "albert":
        return copy.deepcopy(model)
    groups, config.num_hidden_groups = model.config.num_hidden_groups, model.config.num_hidden_layers
    weights, prefix = {}, "albert.encoder.albert_layer_groups."
    for name, value in model.state_dict().items():
        if not name.startswith(prefix):
            weights[name] = value
            continue
        group, rest = name.removeprefix(prefix).split(".", 1)
        for layer in range(config.num_hidden_layers):
            if int(layer * groups / config.num_hidden_layers) == int(group):
                weights[f"{prefix}{layer}.{rest}"] = value
    return _rebuild(model, config, weights)


def _add_biases(model, flags: Sequence[str]):
    """Set `flags` in the config of `model`; the biases that this adds are zero."""
    missing = [flag for flag in dict.fromkeys(flags) if not getattr(model.config, flag)]
    if not missing:
        return model
    config = copy.deepcopy(model.config)
    for flag in missing:
        setattr(config, flag, True)
    return _rebuild(model, config, model.state_dict())


def _rebuild(model, config, weights: dict[str, Tensor]):
    """Build a model of `model`'s class from `config` and `weights`; missing weights are biases, which become zero."""
    new = type(model)(config)
    for name, value in new.state_dict().items():
        if name not in weights:
            value.zero_()
    new.load_state_dict(weights, strict=False)
    new.set_attn_implementation(model.config._attn_implementation)
    return new.to(model.device, model.dtype).train(model.training).requires_grad_(False)


def _grid(model) -> ComponentGrid:
    """Return the grid of components of a Hugging Face model."""
    return ComponentGrid(len(get_family(model.config.model_type).layers(model)), model.config.num_attention_heads)


def _cut_heads(layer: nn.Module, family: Family, removed: list[int], heads: int, means: Tensor) -> None:
    """Remove the heads `removed` from `layer`; their outputs become the constants `means` [H, dh]."""
    output = layer.get_submodule(family.output)
    size = input_width(output) // heads
    kept = [h for h in range(heads) if h not in removed]
    constant = weight_matrix(output)[:, head_rows(removed, size)] @ means[removed].flatten()
    if not kept:
        kept = [0]
        weight_matrix(output).zero_()
    modules = dict(layer.named_modules())  # DeBERTa lacks two of its projections if they are shared
    for projection in (modules[path] for path in family.projections if path in modules):
        _cut_rows(projection, projection_rows(family, projection, kept, heads, size))
    _cut_columns(output, head_rows(kept, size))
    _add_bias(output, constant)
    for path in family.head_counts:
        _set_attribute(layer, path, len(kept))
    for path in family.widths:
        _set_attribute(layer, path, len(kept) * size)
    attention = layer.get_submodule(family.projections[0].rpartition(".")[0])
    if hasattr(attention, "num_key_value_groups"):
        attention.num_key_value_groups = 1


def _cut_mlp(layer: nn.Module, family: Family, mean: Tensor) -> None:
    """Remove the MLP from `layer`; its output becomes the constant `mean` [d]."""
    down = layer.get_submodule(family.down)
    remaining = torch.arange(0 if isinstance(down, nn.Linear) else 1)  # Conv1D cannot run on a width of zero
    for path in family.up:
        _cut_rows(layer.get_submodule(path), remaining)
    _cut_columns(down, remaining)
    weight_matrix(down).zero_()
    down.bias = nn.Parameter(mean.to(weight_matrix(down).dtype).clone(), requires_grad=False)


def _cut_rows(module: nn.Module, rows: Tensor) -> None:
    _replace(module, weight_matrix(module)[rows])
    if module.bias is not None:
        module.bias = nn.Parameter(module.bias.data[rows], requires_grad=False)


def _cut_columns(module: nn.Module, columns: Tensor) -> None:
    _replace(module, weight_matrix(module)[:, columns])


def _replace(module: nn.Module, matrix: Tensor) -> None:
    linear = isinstance(module, nn.Linear)
    module.weight = nn.Parameter((matrix if linear else matrix.T).contiguous(), requires_grad=False)
    if linear:
        module.out_features, module.in_features = matrix.shape
    else:
        module.nf, module.nx = matrix.shape


def _add_bias(module: nn.Module, constant: Tensor) -> None:
    bias = 0 if module.bias is None else module.bias.data
    module.bias = nn.Parameter(bias + constant.to(weight_matrix(module).dtype), requires_grad=False)


def _set_attribute(layer: nn.Module, path: str, value: int) -> None:
    parent, _, name = path.rpartition(".")
    setattr(layer.get_submodule(parent), name, value)
