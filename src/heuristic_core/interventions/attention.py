"""What heads attend to: shares of attention by the relation between query token and key token.

Relations are between words (paper, figures 7 to 9) and apply to all subword tokens of a word. Special tokens count as
keys but not as queries.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.errors import InputError
from heuristic_core.data.pairs import get_sentences
from heuristic_core.data.sampling import sample_stratified
from heuristic_core.data.words import WordPair, to_encoded
from heuristic_core.models.ablation import Mask
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import Component
from heuristic_core.models.model import Model
from heuristic_core.tables.columns import COMPONENT
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_table

# Relations exclude each other, so that a head's shares add up to 1; of several that apply, the first counts. "first" is
# before "repeated" because heads use the first token as a resting place: where it is a word (GPT-2), attention to it is
# no evidence of repetition.
RELATIONS = ("self", "first", "repeated", "separator", "previous", "next", "other")
BATCH_PAIRS = 64
EXAMPLE_SUBSETS = 2  # out-of-domain subsets that give an example pair


def in_domain_pairs(sentences: Sequence[Mapping], count: int, seed: int = 0) -> list[tuple[str, ...]]:
    """Draw `count` in-domain pairs of table `sentences`, stratified by subset and label; all if there are no more.

    Args:
        sentences: Rows of the table.
        count: Number of pairs.
        seed: Setting ``analysis.seed``.

    Raises:
        InputError: There are no in-domain pairs.
    """
    rows = [row for row in sentences if row["group"] == "id"]
    if not rows:
        raise InputError(
            "no evaluation subset has group id; attention is averaged over such a subset, so the task needs one"
        )
    strata = [(row["subset"], row["label"]) for row in rows]
    drawn = sample_stratified(strata, count, numpy_generator(seed, "attention pairs"))
    return [get_sentences(rows[k]) for k in drawn]


def example_pairs(sentences: Sequence[Mapping]) -> list[tuple[str, ...]]:
    """Return the first pair of each of the first two out-of-domain subsets of table `sentences`."""
    firsts = {}
    for row in sentences:
        if row["group"] == "ood":
            firsts.setdefault(row["subset"], get_sentences(row))
    return list(firsts.values())[:EXAMPLE_SUBSETS]


def token_relations(words: Tensor, texts: Tensor, sentences: Tensor, real: Tensor) -> Tensor:
    """Return the relation of each (query, key) pair of positions.

    - self: a token of the same word at the same place
    - first: position 0
    - repeated: a token of an equal word in the other sentence
    - separator: any other special token
    - previous, next: a token of the neighbouring word in the sentence

    Queries that are special tokens, and keys that are padding, have no relation.

    Args:
        words: Running number of the token's word, int64 [B, T]; -1 on special tokens and padding.
        texts: Number of the word's text, int64 [B, T]; -1 for none.
        sentences: 0 or 1, int64 [B, T]; -1 on special tokens and padding.
        real: bool [B, T], False on padding.

    Returns:
        One-hot bool [relations, B, T, T], in the order of `RELATIONS`.
    """
    (word, key_word), (text, key_text), (sentence, key_sentence) = map(_as_queries_and_keys, (words, texts, sentences))
    both_words, same_sentence = (word >= 0) & (key_word >= 0), sentence == key_sentence
    relations = {
        "self": both_words & (word == key_word),
        "first": (torch.arange(words.shape[1], device=words.device) == 0).expand_as(both_words),
        "repeated": both_words & ~same_sentence & (text == key_text) & (text >= 0),
        "separator": (key_word < 0).expand_as(both_words),
        "previous": both_words & same_sentence & (key_word == word - 1),
        "next": both_words & same_sentence & (key_word == word + 1),
        "other": torch.ones_like(both_words),
    }
    kinds = torch.stack([relations[kind] for kind in RELATIONS])
    earlier = kinds.cumsum(0) - kinds.long()
    return kinds & (earlier == 0) & (word >= 0) & real[:, None, :]


def _as_queries_and_keys(values: Tensor) -> tuple[Tensor, Tensor]:
    """Return the values [B, T] of query tokens as [B, T, 1] and of key tokens as [B, 1, T]."""
    return values[:, :, None], values[:, None, :]


def batch_relations(pairs: Sequence[WordPair], real: Tensor) -> Tensor:
    """Return :func:`token_relations` of one batch, bool [relations, B, T, T].

    Args:
        pairs: The B pairs, token by token.
        real: bool [B, T], False on padding.
    """
    words = [[-1 if word is None else word for word in pair.words] for pair in pairs]
    texts = [_number_texts(pair.texts) for pair in pairs]
    sentences = [[-1 if sentence is None else sentence for sentence in pair.sentences] for pair in pairs]
    return token_relations(*(_pad(rows).to(real.device) for rows in (words, texts, sentences)), real)


def _number_texts(texts: Sequence[str | None]) -> list[int]:
    """Number `texts` so that equal texts have equal numbers; None becomes -1."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(text, len(numbers)) if text else -1 for text in texts]


def _pad(rows: Sequence[Sequence[int]]) -> Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=-1)


@torch.no_grad()
def attention_shares(
    model: Model, pairs: Sequence[WordPair], transform: Callable[[Tensor], Tensor] | None = None
) -> Tensor:
    """Compute mean shares of attention by relation over the words of all `pairs`.

    The share of a word is the mean over its tokens.

    Args:
        model: The full model.
        pairs: Pairs with their words.
        transform: Transforms a layer's probabilities, [B, H, T, T], before they are measured.

    Returns:
        [layers, H, relations], each from 0 to 1.
    """
    tensors = PairTensors(to_encoded(pairs), model.pad, model.device)
    shares = torch.zeros(model.grid.layers, model.grid.heads, len(RELATIONS), dtype=torch.float64, device=model.device)
    words = 0.0
    for index in torch.arange(len(pairs)).split(BATCH_PAIRS):
        batch = tensors.batch(index)
        kinds = batch_relations([pairs[i] for i in index.tolist()], batch.mask()).double()
        weights = word_weights(kinds)
        words += float(weights.sum())

        def add(layer: int, probabilities: Tensor, kinds=kinds, weights=weights) -> None:
            measured = transform(probabilities) if transform else probabilities
            shares[layer] += torch.einsum("bhqk,nbqk,bq->hn", measured.double(), kinds, weights)

        model.observe_attention(batch, add)
    return (shares / words).cpu()


def uniform_attention(probabilities: Tensor) -> Tensor:
    """Return attention [B, H, T, T] that is uniform over the tokens that a query of the layer can see.

    An encoder sees the whole pair, a decoder only earlier tokens, some families only a window. Visibility is read off
    `probabilities`: a token that gets no attention from any head of the layer, such as padding, counts as invisible.
    """
    visible = (probabilities > 0).any(1, keepdim=True).expand_as(probabilities)
    return visible / visible.sum(-1, keepdim=True).clamp(min=1)


def word_weights(kinds: Tensor) -> Tensor:
    """Return 1 / (number of tokens of its word) for every query token, 0 on special tokens and padding, [B, T]."""
    sizes = kinds[RELATIONS.index("self")].sum(-1)
    return torch.where(sizes > 0, 1 / sizes.clamp(min=1), 0)


@torch.no_grad()
def attention_map(model: Model, pair: WordPair, mask: Mask | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Compute the attention of every head on one pair.

    Args:
        model: The full model.
        pair: The pair with its words.
        mask: The subnetwork to run; default: the full model.

    Returns:
        Probabilities [layers, H, T, T], and the relation of each (query, key), object [T, T], None for none.
    """
    batch = PairTensors(to_encoded([pair]), model.pad, model.device).batch(torch.arange(1))
    probabilities_by_layer: dict[int, Tensor] = {}
    model.observe_attention(
        batch,
        lambda layer, probabilities: probabilities_by_layer.__setitem__(layer, probabilities[0].cpu()),
        mask.for_batch(batch) if mask else None,
    )
    relations = batch_relations([pair], batch.mask())[:, 0].cpu()
    relation_index = torch.where(relations.any(0), relations.long().argmax(0), -1)
    probabilities = torch.stack([probabilities_by_layer[layer] for layer in range(model.grid.layers)])
    return probabilities.double().numpy(), np.array([*RELATIONS, None], dtype=object)[relation_index.numpy()]


def share_rows(run: Identity, model: Model, pairs: Sequence[WordPair]) -> list[dict]:
    """Return the rows of table `attention` for one model.

    Args:
        run: Identity of the model.
        model: The full model.
        pairs: Pairs with their words.
    """
    shares, identity = attention_shares(model, pairs), _first_row(run.as_columns(1, last="step"))
    return [
        identity | _first_row(_head_columns([head])) | {"category": kind, "share": share, "n": len(pairs)}
        for head in _heads(model)
        for kind, share in zip(RELATIONS, shares[head.layer, head.head].tolist(), strict=True)
    ]


def overlap_rows(run: Identity, model: Model, pairs: Sequence[WordPair], times_uniform: float) -> list[dict]:
    """Return the rows of table `overlap_heads` for the model that a run starts from.

    Args:
        run: The run.
        model: The model before fine-tuning.
        pairs: Pairs with their words.
        times_uniform: Setting `analysis.overlap_times_uniform`.
    """
    repeated = RELATIONS.index("repeated")
    observed, uniform_shares = (
        attention_shares(model, pairs, instead)[..., repeated].tolist() for instead in (None, uniform_attention)
    )
    identity, rows = _first_row(run.as_columns(1, last="ft_seed")), []
    for head in _heads(model):
        share, uniform_share = (shares[head.layer][head.head] for shares in (observed, uniform_shares))
        values = {"share": share, "uniform": uniform_share, "overlap": share >= times_uniform * uniform_share > 0}
        rows.append(identity | _first_row(_head_columns([head])) | values | {"n": len(pairs)})
    return rows


def map_table(run: Identity, model: Model, pairs: Sequence[WordPair], mask: Mask | None = None) -> pa.Table:
    """Build table `attention_maps` of one model: one row per pair, head, query token and key token.

    The table includes heads that `mask` removes; see :func:`attention_map`.

    Args:
        run: Identity of the model.
        model: The full model.
        pairs: Pairs with their words, numbered in this order.
        mask: The subnetwork to run; default: the full model.
    """
    parts, heads = [as_table("attention_maps", [])], _heads(model)
    for number, pair in enumerate(pairs):
        probabilities, kinds = attention_map(model, pair, mask)
        query, key = (np.tile(places.ravel(), len(heads)) for places in np.indices(kinds.shape))
        tokens, sentences = np.array(pair.tokens, dtype=object), np.array(pair.sentences, dtype=object)
        columns = run.as_columns(probabilities.size, last="step")
        columns |= {name: np.repeat(values, kinds.size) for name, values in _head_columns(heads).items()}
        columns |= {"pair": np.full(probabilities.size, number), "query": query, "key": key}
        columns |= {"query_token": tokens[query], "key_token": tokens[key]}
        columns |= {"sentence": sentences[query], "key_sentence": sentences[key]}
        columns |= {"category": kinds[query, key], "probability": probabilities.ravel()}
        parts.append(as_table("attention_maps", columns))
    return pa.concat_tables(parts)


def _heads(model: Model) -> list[Component]:
    return [component for component in model.grid if component.kind == "head"]


def _head_columns(heads: Sequence[Component]) -> dict[str, list]:
    return {name: [getattr(head, name) for head in heads] for name in COMPONENT if name != "component"} | {
        "component": [head.index for head in heads]
    }


def _first_row(columns: Mapping[str, Sequence]) -> dict:
    return {name: values[0] for name, values in columns.items()}
