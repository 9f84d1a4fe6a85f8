"""Shape of a study's model: number of parameters and floating-point operations."""

from importlib import resources
from pathlib import Path

import yaml
from pydantic import PositiveInt

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import Block
from heuristic_core.config.models import AnyModel, NewModel
from heuristic_core.models.weight_files import read_object

GENERATED_VOCABULARY = 111  # tokens of the miniature's language
# Field of `Shape` -> its keys in config.json, which depend on the family.
CONFIG_KEYS = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "hidden": ("hidden_size", "n_embd", "dim"),
    "feed_forward": ("intermediate_size", "n_inner", "hidden_dim"),
    "vocabulary": ("vocab_size",),
    "positions": ("max_position_embeddings", "n_positions"),
}


class Shape(Block):
    """Sizes of a transformer.

    Attributes:
        layers: Number of layers.
        heads: Number of attention heads of a layer.
        hidden: Width of the residual stream.
        feed_forward: Width inside the MLP.
        vocabulary: Number of token embeddings.
        positions: Number of position embeddings.
    """

    layers: PositiveInt
    heads: PositiveInt
    hidden: PositiveInt
    feed_forward: PositiveInt
    vocabulary: PositiveInt
    positions: PositiveInt

    @property
    def parameters(self) -> int:
        """Approximate number of parameters (within 1 %): layers, embeddings and pooler."""
        d, f = self.hidden, self.feed_forward
        layer = 4 * (d * d + d) + 2 * d * f + f + d + 4 * d
        return self.layers * layer + (self.vocabulary + self.positions + 4) * d + d * d + d

    def flops_per_token(self, tokens: float) -> float:
        """Return floating-point operations per token of a forward pass over pairs of `tokens` tokens."""
        d, f = self.hidden, self.feed_forward
        return self.layers * (2 * (4 * d * d + 2 * d * f) + 4 * tokens * d)


def read_shape(model: AnyModel) -> Shape:
    """Return the shape of a study's model without loading it.

    Raises:
        InputError: If the shape is unknown, because the model is not downloaded or its config.json is incomplete.
    """
    if isinstance(model, NewModel):
        return Shape(vocabulary=GENERATED_VOCABULARY, **model.architecture.model_dump())
    if model.hub is None:
        from heuristic_core.models.folder import resolve_folder

        return _read_config(Path(resolve_folder(model)) / "config.json")
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(model.hub, "config.json", revision=model.revision)
    if isinstance(cached, str):
        return _read_config(Path(cached))
    shapes = yaml.safe_load(resources.files("heuristic_core.plan").joinpath("shapes.yaml").read_text())
    if model.hub not in shapes:
        raise InputError(
            f"{model.BLOCK}.hub = {model.hub!r}: the shape is unknown until the model is downloaded; run `make fetch` "
            f"first, or plan with one of {', '.join(shapes)}"
        )
    return Shape(**shapes[model.hub])


def _read_config(path: Path) -> Shape:
    """Return the shape that a config.json describes."""
    values = read_object(path)
    fields = {name: next((values[k] for k in keys if values.get(k)), None) for name, keys in CONFIG_KEYS.items()}
    if fields["feed_forward"] is None and fields["hidden"]:
        fields["feed_forward"] = 4 * fields["hidden"]  # GPT-2 writes null for this
    if unknown := [name for name, value in fields.items() if value is None]:
        raise InputError(f"{path}: no {CONFIG_KEYS[unknown[0]][0]}; a plan needs the model's {unknown[0]}")
    return Shape(**fields)
