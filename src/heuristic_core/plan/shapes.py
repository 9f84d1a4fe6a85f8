"""The shape of a study's model, and what follows from it: parameters and floating-point operations."""

from importlib import resources
from pathlib import Path

import yaml
from pydantic import PositiveInt

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import Block
from heuristic_core.config.models import AnyModel, NewModel
from heuristic_core.models.weight_files import read_object

GENERATED_VOCABULARY = 111  # of the miniature's language
# What families call the same number in config.json.
NAMES = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "hidden": ("hidden_size", "n_embd", "dim"),
    "feed_forward": ("intermediate_size", "n_inner", "hidden_dim"),
    "vocabulary": ("vocab_size",),
    "positions": ("max_position_embeddings", "n_positions"),
}


class Shape(Block):
    """Numbers of a transformer. feed_forward: width inside the MLP. vocabulary, positions: rows of the embeddings."""

    layers: PositiveInt
    heads: PositiveInt
    hidden: PositiveInt
    feed_forward: PositiveInt
    vocabulary: PositiveInt
    positions: PositiveInt

    @property
    def parameters(self) -> int:
        """Weights of the classifier, but for a per cent: two matrices and four vectors a layer, embeddings, pooler."""
        d, f = self.hidden, self.feed_forward
        layer = 4 * (d * d + d) + 2 * d * f + f + d + 4 * d
        return self.layers * layer + (self.vocabulary + self.positions + 4) * d + d * d + d

    def flops_per_token(self, tokens: float) -> float:
        """Floating-point operations per token of a forward pass over pairs of `tokens` tokens each."""
        d, f = self.hidden, self.feed_forward
        return self.layers * (2 * (4 * d * d + 2 * d * f) + 4 * tokens * d)


def read_shape(model: AnyModel) -> Shape:
    """The shape of a study's model, without loading it. Raises InputError where it cannot be known."""
    if isinstance(model, NewModel):
        return Shape(vocabulary=GENERATED_VOCABULARY, **model.architecture.model_dump())
    if model.hub is None:
        from heuristic_core.models.folder import resolve_folder

        return _read(Path(resolve_folder(model)) / "config.json")
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(model.hub, "config.json", revision=model.revision)
    if isinstance(cached, str):
        return _read(Path(cached))
    shapes = yaml.safe_load(resources.files("heuristic_core.plan").joinpath("shapes.yaml").read_text())
    if model.hub not in shapes:
        raise InputError(
            f"{model.BLOCK}.hub = {model.hub!r}: its shape is not known before it is fetched; fetch the study first, "
            f"or plan with one of {', '.join(shapes)}"
        )
    return Shape(**shapes[model.hub])


def _read(path: Path) -> Shape:
    values = read_object(path)
    fields = {name: next((values[k] for k in keys if values.get(k)), None) for name, keys in NAMES.items()}
    if fields["feed_forward"] is None and fields["hidden"]:
        fields["feed_forward"] = 4 * fields["hidden"]  # GPT-2 writes null for this
    if unknown := [name for name, value in fields.items() if value is None]:
        raise InputError(f"{path}: no {NAMES[unknown[0]][0]}; a plan needs the model's {unknown[0]}")
    return Shape(**fields)
