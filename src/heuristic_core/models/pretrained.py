"""The Hugging Face model that fine-tuning starts from: pretrained, or new with a configured initialisation."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from heuristic_core.common.errors import InputError
from heuristic_core.common.seeds import torch_generator
from heuristic_core.config.models import Initialisation, NewModel, PretrainedModel
from heuristic_core.models.device import resolve_device
from heuristic_core.models.families import get_family
from heuristic_core.models.folder import check_labels, resolve_folder
from heuristic_core.models.hugging_face import load_classifier, load_config, load_tokenizer

if TYPE_CHECKING:
    from transformers import BertForMaskedLM, BertPreTrainedModel, PreTrainedModel, PreTrainedTokenizerBase


def load_initial_model(
    model: NewModel | PretrainedModel,
    tokenizer: str | Path,
    subsets: str | Path,
    ft_seed: int,
    dropout: float | None,
    device: str = "cpu",
    pretrained: str | Path | None = None,
) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase"]:
    """Return the model that fine-tuning starts from, on `device`, and its tokenizer.

    Loading and saving it later show no progress bar.

    Args:
        model: The model's configuration.
        tokenizer: Folder of the tokenizer.
        subsets: JSON file of subsets and labels.
        ft_seed: See :func:`build_classifier`.
        dropout: See :func:`build_classifier`.
        device: "cpu" or "cuda".
        pretrained: See :func:`build_classifier`.
    """
    from transformers.utils import logging as hugging_face_logging

    hugging_face_logging.disable_progress_bar()
    loaded = load_tokenizer(tokenizer)
    labels = json.loads(Path(subsets).read_text())["labels"]
    pad = loaded.eos_token_id if loaded.pad_token_id is None else loaded.pad_token_id
    classifier = build_classifier(model, labels, len(loaded), pad, ft_seed, dropout, pretrained)
    return classifier.to(resolve_device(device)), loaded


def build_classifier(
    model: NewModel | PretrainedModel,
    labels: Sequence[str],
    vocabulary: int,
    pad: int,
    ft_seed: int,
    dropout: float | None,
    pretrained: str | Path | None = None,
) -> "PreTrainedModel":
    """Build a ``PreTrainedModel`` for sequence classification.

    The classifier of a pretrained model, or every weight of a new one, is drawn from a generator of `ft_seed`.

    Args:
        model: The model's configuration.
        labels: Class names in logit order.
        vocabulary: Number of tokens.
        pad: The tokenizer's padding token, for models whose configuration has none.
        ft_seed: Fine-tuning seed.
        dropout: Replaces the model's dropout rates; None keeps them.
        pretrained: Folder that :mod:`heuristic_core.training.pretrain` wrote, for a new model that is pre-trained
            first.

    Raises:
        InputError: A file is missing, or the checkpoint does not fit `labels`.
    """
    label_names = dict(enumerate(labels))
    options = {
        "num_labels": len(labels),
        "id2label": label_names,
        "label2id": {label: index for index, label in label_names.items()},
    }
    if isinstance(model, NewModel) and model.pretraining is None:
        return _build_new_classifier(model, vocabulary, ft_seed, options | _dropout_settings("bert", dropout))
    folder = resolve_folder(model) if isinstance(model, PretrainedModel) else pretrained
    if folder is None:
        raise InputError(
            "model.pretraining is set, but the folder of the pre-trained model is missing; add --pretrained"
        )
    config = load_config(folder, **options)
    check_labels(folder, labels)
    if config.pad_token_id is None:
        options["pad_token_id"] = pad  # decoders classify the last token that is not padding
    rates = _dropout_settings(config.model_type, dropout)  # DeBERTa has some of them only if config.json sets them
    options |= {name: rate for name, rate in rates.items() if hasattr(config, name)}
    torch.manual_seed(ft_seed)  # draws the classifier
    return load_classifier(folder, new_head=True, **options)


def _dropout_settings(model_type: str, dropout: float | None) -> dict[str, float]:
    """Return a family's settings for dropout, all at rate `dropout`; empty for None."""
    return {} if dropout is None else dict.fromkeys(get_family(model_type).dropout, dropout)


def build_masked_language_model(model: NewModel, vocabulary: int) -> "BertForMaskedLM":
    """Build the model that pre-training starts from, without dropout, as its text never repeats.

    Args:
        model: Configuration of the model and its pre-training.
        vocabulary: Number of tokens.
    """
    from transformers import BertForMaskedLM

    bert = BertForMaskedLM(_bert_config(model, vocabulary, _dropout_settings("bert", 0.0)))
    initialise(bert, model.initialisation, torch_generator("weights", model.pretraining.seed))
    return bert


def _build_new_classifier(model: NewModel, vocabulary: int, ft_seed: int, options: dict):
    from transformers import BertForSequenceClassification

    bert = BertForSequenceClassification(_bert_config(model, vocabulary, options))
    initialise(bert, model.initialisation, torch_generator("weights", ft_seed))
    return bert


def _bert_config(model: NewModel, vocabulary: int, options: dict):
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
def initialise(bert: "BertPreTrainedModel", settings: Initialisation, draws: torch.Generator) -> None:
    """Draw all matrices from a normal distribution, then scale embeddings, queries and keys as `settings` say.

    `tie_query_key` also sets keys to queries: a head then attends to tokens similar to the query's, a soft same-word
    attention that stands in for pre-training. All heads are treated alike.

    Args:
        bert: A BERT model with a head, whose weights are changed in place.
        settings: Standard deviation of the weights, and factors on some of them.
        draws: Generator of the draws, whose state advances.
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
