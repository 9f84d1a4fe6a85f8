"""The physically smaller model: removed heads and MLPs cut out of a Hugging Face model, constants in their place.

What a removed component puts out (its mean, or zero) is folded into a bias, so that the smaller model computes what
the masked one computes. Configurations of Hugging Face's architectures have one number of heads for all layers, so a
checkpoint that loads without this code keeps the shape of the original (`ordinary`); the smaller one (`shrink`) lives
in memory, where evaluation of hooked models uses it.
"""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from heuristic_core.common.errors import InputError
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.families import Family, family_of, inputs_of


@torch.no_grad()
def shrink(model, removed: Sequence[int], heads: Tensor, mlps: Tensor):
    """A copy of `model` (Hugging Face, for sequence classification) without the components at the indices `removed`.

    heads: [layers, H, dh] and mlps: [layers, d], what each removed component puts out.
    Rows and columns of queries, keys, values and the output projection go with their head, an MLP's inner width goes to
    zero. With grouped-query attention each head that stays gets keys and values of its own. A layer without any head
    keeps one that is multiplied by zero: attention of no heads cannot be run.
    """
    small, family, grid = _copy(model), family_of(model.config.model_type), _grid(model)
    for number, layer in enumerate(family.layers(small)):
        gone = [h for h in range(grid.heads) if number * grid.heads + h in removed]
        if gone:
            _cut_heads(layer, family, gone, grid.heads, heads[number])
        if grid.layers * grid.heads + number in removed:
            _cut_mlp(layer, family, mlps[number])
    return small


@torch.no_grad()
def ordinary(model, removed: Sequence[int], heads: Tensor, mlps: Tensor):
    """A copy of `model` of its own architecture that computes the subnetwork: ``save_pretrained`` writes a checkpoint
    that ``from_pretrained`` loads with no code of this project.

    It has the original's shape; what is removed is multiplied by zero. Raises InputError where there are constants and
    the architecture has no bias that could hold them.
    """
    plain, family, grid = _copy(model), family_of(model.config.model_type), _grid(model)
    constants: dict[tuple[str, int], Tensor] = {}  # by module below a layer, and layer
    for number, layer in enumerate(family.layers(plain)):
        output, down = layer.get_submodule(family.output), layer.get_submodule(family.down)
        gone = [h for h in range(grid.heads) if number * grid.heads + h in removed]
        if gone:
            columns = _rows(gone, inputs_of(output) // grid.heads)
            constants[family.output, number] = _matrix(output)[:, columns] @ heads[number][gone].flatten()
            _matrix(output)[:, columns] = 0
        if grid.layers * grid.heads + number in removed:
            _matrix(down).zero_()
            if down.bias is not None:
                down.bias.zero_()
            # With "output" nothing else reads the sum between attention and MLP.
            place = (family.output if family.down_bias == "output" else family.down, number)
            constants[place] = constants.get(place, 0) + mlps[number]
    return _with_constants(plain, family, {place: value for place, value in constants.items() if value.any()})


def _with_constants(model, family: Family, constants: dict[tuple[str, int], Tensor]):
    """`model` with these constants in its biases, which are added to its architecture where its config allows."""
    flags = {family.output: family.output_bias, family.down: family.down_bias}
    wanted = [flags[path] for path, _ in constants]
    if None in wanted:
        raise InputError(
            f"{type(model).__name__} has no bias that could hold the mean of a removed component; "
            "evaluate this subnetwork with workflow/scripts/evaluate.py, or take zero for the means"
        )
    model = _with_biases(model, [flag for flag in wanted if flag != "always"])
    layers = family.layers(model)
    for (path, number), constant in constants.items():
        _add_bias(layers[number].get_submodule(path), constant)
    return model


def _copy(model):
    """A deep copy in which no two layers share weights."""
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
    return _rebuilt(model, config, weights)


def _with_biases(model, flags: Sequence[str]):
    """`model` with its config's `flags` set, biases that this adds at zero."""
    missing = [flag for flag in dict.fromkeys(flags) if not getattr(model.config, flag)]
    if not missing:
        return model
    config = copy.deepcopy(model.config)
    for flag in missing:
        setattr(config, flag, True)
    return _rebuilt(model, config, model.state_dict())


def _rebuilt(model, config, weights: dict[str, Tensor]):
    """A model of `model`'s class and `config` with `weights`; what these lack are biases, which become zero."""
    new = type(model)(config)
    for name, value in new.state_dict().items():
        if name not in weights:
            value.zero_()
    new.load_state_dict(weights, strict=False)
    new.set_attn_implementation(model.config._attn_implementation)
    return new.to(model.device, model.dtype).train(model.training).requires_grad_(False)


def _grid(model) -> ComponentGrid:
    return ComponentGrid(len(family_of(model.config.model_type).layers(model)), model.config.num_attention_heads)


def _cut_heads(layer: nn.Module, family: Family, gone: list[int], heads: int, means: Tensor) -> None:
    """means: [H, dh]."""
    output = layer.get_submodule(family.output)
    size = inputs_of(output) // heads
    kept = [h for h in range(heads) if h not in gone]
    constant = _matrix(output)[:, _rows(gone, size)] @ means[gone].flatten()
    if not kept:
        kept = [0]
        _matrix(output).zero_()
    present = dict(layer.named_modules())  # DeBERTa has two of its projections only where they are not shared
    for projection in (present[path] for path in family.projections if path in present):
        _cut_rows(projection, _rows_of(family, projection, kept, heads, size))
    _cut_columns(output, _rows(kept, size))
    _add_bias(output, constant)
    for path in family.head_counts:
        _set(layer, path, len(kept))
    for path in family.widths:
        _set(layer, path, len(kept) * size)
    attention = layer.get_submodule(family.projections[0].rpartition(".")[0])
    if hasattr(attention, "num_key_value_groups"):
        attention.num_key_value_groups = 1


def _cut_mlp(layer: nn.Module, family: Family, mean: Tensor) -> None:
    """mean: [d]."""
    down = layer.get_submodule(family.down)
    left = torch.arange(0 if isinstance(down, nn.Linear) else 1)  # Conv1D cannot run on a width of zero
    for path in family.up:
        _cut_rows(layer.get_submodule(path), left)
    _cut_columns(down, left)
    _matrix(down).zero_()
    down.bias = nn.Parameter(mean.to(_matrix(down).dtype).clone(), requires_grad=False)


def _rows_of(family: Family, module: nn.Module, kept: list[int], heads: int, size: int) -> Tensor:
    """Which output rows of a projection belong to the heads `kept`."""
    if family.order == "interleaved":
        return _rows(kept, 3 * size)
    if family.order == "stacked":
        return torch.cat([part * heads * size + _rows(kept, size) for part in range(3)])
    sharing = heads * size // len(_matrix(module))  # query heads to one row of heads: 1, but for shared keys and values
    return _rows([head // sharing for head in kept], size)


def _rows(heads: Sequence[int], size: int) -> Tensor:
    return (torch.tensor(heads)[:, None] * size + torch.arange(size)).flatten()


def _matrix(module: nn.Module) -> Tensor:
    """A linear map's weight as [out, in]; a view, also of GPT-2's ``Conv1D``, which stores [in, out]."""
    return module.weight.data if isinstance(module, nn.Linear) else module.weight.data.T


def _cut_rows(module: nn.Module, rows: Tensor) -> None:
    _replace(module, _matrix(module)[rows])
    if module.bias is not None:
        module.bias = nn.Parameter(module.bias.data[rows], requires_grad=False)


def _cut_columns(module: nn.Module, columns: Tensor) -> None:
    _replace(module, _matrix(module)[:, columns])


def _replace(module: nn.Module, matrix: Tensor) -> None:
    linear = isinstance(module, nn.Linear)
    module.weight = nn.Parameter((matrix if linear else matrix.T).contiguous(), requires_grad=False)
    if linear:
        module.out_features, module.in_features = matrix.shape
    else:
        module.nf, module.nx = matrix.shape


def _add_bias(module: nn.Module, constant: Tensor) -> None:
    before = 0 if module.bias is None else module.bias.data
    module.bias = nn.Parameter(before + constant.to(_matrix(module).dtype), requires_grad=False)


def _set(layer: nn.Module, path: str, value: int) -> None:
    parent, _, name = path.rpartition(".")
    setattr(layer.get_submodule(parent), name, value)
