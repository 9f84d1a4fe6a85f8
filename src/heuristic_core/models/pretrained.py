"""The Hugging Face model that fine-tuning starts from: pretrained, or new with a stated initialisation."""

import json
from collections.abc import Sequence
from pathlib import Path

import torch

from heuristic_core.common.errors import InputError
from heuristic_core.common.seeds import torch_generator
from heuristic_core.config.models import Initialisation, NewModel, PretrainedModel
from heuristic_core.models.device import usable_device
from heuristic_core.models.families import family_of
from heuristic_core.models.folder import check_labels, folder_of
from heuristic_core.models.hugging_face import load_classifier, load_config, load_tokenizer


def starting_point(
    model: NewModel | PretrainedModel,
    tokenizer: str | Path,
    subsets: str | Path,
    ft_seed: int,
    dropout: float | None,
    device: str = "cpu",
    pretrained: str | Path | None = None,
):
    """What fine-tuning starts from: the model, on `device`, and its tokenizer.

    tokenizer: its folder. subsets: the file of subsets and labels (JSON). The rest: see :func:`starting_model`.
    """
    words = load_tokenizer(tokenizer)
    labels = json.loads(Path(subsets).read_text())["labels"]
    pad = words.eos_token_id if words.pad_token_id is None else words.pad_token_id
    begun = starting_model(model, labels, len(words), pad, ft_seed, dropout, pretrained)
    return begun.to(usable_device(device)), words


def starting_model(
    model: NewModel | PretrainedModel,
    labels: Sequence[str],
    vocabulary: int,
    pad: int,
    ft_seed: int,
    dropout: float | None,
    pretrained: str | Path | None = None,
):
    """A ``PreTrainedModel`` for sequence classification into `labels` (in that order).

    The classifier of a pretrained model, and every weight of a new one, is drawn from a generator of `ft_seed`.
    pad: the tokenizer's padding token, for models whose configuration names none. dropout: replaces the model's own
    rates; None keeps them. pretrained: the folder that :mod:`heuristic_core.training.pretrain` wrote, for a new model
    that is pre-trained first.
    """
    names = dict(enumerate(labels))
    options = {
        "num_labels": len(labels),
        "id2label": names,
        "label2id": {n: i for i, n in names.items()},
    }
    if isinstance(model, NewModel) and model.pretraining is None:
        return _new(model, vocabulary, ft_seed, options | _rates("bert", dropout))
    folder = folder_of(model) if isinstance(model, PretrainedModel) else pretrained
    if folder is None:
        raise InputError("model.pretraining is given, but not where the pre-trained model is; give --pretrained")
    config = load_config(folder, **options)
    check_labels(folder, labels)
    if config.pad_token_id is None:
        options["pad_token_id"] = pad  # decoders classify the last token that is not this one
    rates = _rates(config.model_type, dropout)  # DeBERTa has some of them only where config.json does
    options |= {name: rate for name, rate in rates.items() if hasattr(config, name)}
    torch.manual_seed(ft_seed)  # draws the classifier
    return load_classifier(folder, new_head=True, **options)


def _rates(model_type: str, dropout: float | None) -> dict[str, float]:
    """A family's settings for dropout on activations and on attention."""
    return {} if dropout is None else dict.fromkeys(family_of(model_type).dropout, dropout)


def masked_language_model(model: NewModel, vocabulary: int):
    """The ``BertForMaskedLM`` that pre-training starts from, without dropout: its text does not repeat."""
    from transformers import BertForMaskedLM

    bert = BertForMaskedLM(_configuration(model, vocabulary, _rates("bert", 0.0)))
    initialise(bert, model.initialisation, torch_generator("weights", model.pretraining.seed))
    return bert


def _new(model: NewModel, vocabulary: int, ft_seed: int, options: dict):
    from transformers import BertForSequenceClassification

    bert = BertForSequenceClassification(_configuration(model, vocabulary, options))
    initialise(bert, model.initialisation, torch_generator("weights", ft_seed))
    return bert


def _configuration(model: NewModel, vocabulary: int, options: dict):
    from transformers import BertConfig

    shape = model.architecture
    return BertConfig(
        vocab_size=vocabulary,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        hidden_size=shape.hidden,
        intermediate_size=shape.feed_forward,
        max_position_embeddings=shape.positions,
        initializer_range=model.initialisation.std,  # of what fine-tuning adds to a pre-trained encoder
        **options,
    )


@torch.no_grad()
def initialise(bert, settings: Initialisation, draws: torch.Generator) -> None:
    """How a new model starts: all matrices normal, then embeddings and query/key scaled as `settings` say.

    `tie_query_key` sets keys to queries, too: a head then attends to tokens like the one that asks, which is soft
    same-word attention and replaces what pre-training gives. No head is treated differently from another.
    """
    for weight in bert.parameters():
        if weight.dim() == 2:
            weight.normal_(0, settings.std, generator=draws)
    embeddings = bert.bert.embeddings
    for table in (embeddings.position_embeddings, embeddings.token_type_embeddings):
        table.weight *= settings.embedding_scale
    for layer in bert.bert.encoder.layer:
        attention = layer.attention.self
        for part in (attention.query, attention.key):
            part.weight *= settings.query_key_scale
        if settings.tie_query_key:
            attention.key.weight.copy_(attention.query.weight)
