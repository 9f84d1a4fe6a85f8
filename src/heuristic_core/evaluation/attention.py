"""What heads attend to: shares of attention by the relation between the asking and the attended token.

Paper, figures 7 to 9. The unit is the word: what holds for a word holds for each of its
subword tokens. Special tokens are attended to but do not ask.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.errors import InputError
from heuristic_core.models.ablation import Mask
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import Component
from heuristic_core.models.model import Model
from heuristic_core.tables.columns import COMPONENT
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_table
from heuristic_core.tasks.sampling import stratified
from heuristic_core.tasks.words import WordPair, as_encoded

# The kinds exclude each other, so that the shares of a head add up to 1: where two apply the first one counts. The
# first token comes before the repeated word, as heads rest on it whatever it is: where it is a word (GPT-2), attention
# to it says nothing about repetition.
KINDS = ("self", "first", "repeated", "separator", "previous", "next", "other")
BATCH_PAIRS = 64
DRAWN_SUBSETS = 2  # out-of-domain subsets that give an example pair


def in_domain_pairs(sentences: Sequence[Mapping], count: int, seed: int = 0) -> list[tuple[str, str]]:
    """`count` in-domain pairs of table `sentences`, drawn by subset and label; all where there are no more.

    seed: ``analysis.seed``. Raises InputError where there are none.
    """
    rows = [row for row in sentences if row["group"] == "id"]
    if not rows:
        raise InputError("no evaluation subset of group id, over which attention is averaged; the task needs one")
    strata = [(row["subset"], row["label"]) for row in rows]
    drawn = stratified(strata, count, numpy_generator(seed, "attention pairs"))
    return [(rows[k]["sentence1"], rows[k]["sentence2"]) for k in drawn]


def example_pairs(sentences: Sequence[Mapping]) -> list[tuple[str, str]]:
    """The first pair of each of the first two out-of-domain subsets of table `sentences`; fewer where they are."""
    firsts = {}
    for row in sentences:
        if row["group"] == "ood":
            firsts.setdefault(row["subset"], (row["sentence1"], row["sentence2"]))
    return list(firsts.values())[:DRAWN_SUBSETS]


def token_relations(words: Tensor, texts: Tensor, sentences: Tensor, real: Tensor) -> Tensor:
    """Which kind each (query, key) pair of positions is: one-hot bool [kinds, B, T, T], in the order of `KINDS`.

    words: running number of the token's word; texts: number of that word's text, -1 for none; sentences: 0 or 1; all
    three int64 [B, T], -1 on special tokens and padding. real: bool [B, T], False on padding.
    self: a token of the same word at the same place. first: position 0. repeated: a token of an equal word in the other
    sentence. separator: any further special token. previous, next: a token of the neighbouring word in the sentence.
    Queries that are special tokens, and keys that are padding, get no kind.
    """
    (word, key_word), (text, key_text), (sentence, key_sentence) = map(_by_pair, (words, texts, sentences))
    ordinary, inside = (word >= 0) & (key_word >= 0), sentence == key_sentence
    found = {
        "self": ordinary & (word == key_word),
        "first": (torch.arange(words.shape[1], device=words.device) == 0).expand_as(ordinary),
        "repeated": ordinary & ~inside & (text == key_text) & (text >= 0),
        "separator": (key_word < 0).expand_as(ordinary),
        "previous": ordinary & inside & (key_word == word - 1),
        "next": ordinary & inside & (key_word == word + 1),
        "other": torch.ones_like(ordinary),
    }
    kinds = torch.stack([found[kind] for kind in KINDS])
    earlier = kinds.cumsum(0) - kinds.long()
    return kinds & (earlier == 0) & (word >= 0) & real[:, None, :]


def _by_pair(values: Tensor) -> tuple[Tensor, Tensor]:
    """Of the asking token [B, T, 1], of the attended one [B, 1, T]."""
    return values[:, :, None], values[:, None, :]


def relations_of(pairs: Sequence[WordPair], real: Tensor) -> Tensor:
    """:func:`token_relations` of one batch. real: bool [B, T]."""
    words = [[-1 if word is None else word for word in pair.words] for pair in pairs]
    texts = [_numbers(pair.texts) for pair in pairs]
    sentences = [[-1 if sentence is None else sentence for sentence in pair.sentences] for pair in pairs]
    return token_relations(*(_padded(rows).to(real.device) for rows in (words, texts, sentences)), real)


def _numbers(texts: Sequence[str | None]) -> list[int]:
    """Equal texts get equal numbers, no text -1."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(text, len(numbers)) if text else -1 for text in texts]


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=-1)


@torch.no_grad()
def attention_shares(
    model: Model, pairs: Sequence[WordPair], instead: Callable[[Tensor], Tensor] | None = None
) -> Tensor:
    """Mean shares [layers, H, kinds] over the words of all `pairs`; a word's share is the mean over its tokens.

    instead: gives what is measured in the place of a layer's probabilities, both [B, H, T, T].
    """
    tensors = PairTensors(as_encoded(pairs), model.pad, model.device)
    shares = torch.zeros(model.grid.layers, model.grid.heads, len(KINDS), dtype=torch.float64, device=model.device)
    words = 0.0
    for index in torch.arange(len(pairs)).split(BATCH_PAIRS):
        batch = tensors.batch(index)
        kinds = relations_of([pairs[i] for i in index.tolist()], batch.mask()).double()
        weights = word_weights(kinds)
        words += float(weights.sum())

        def add(layer: int, probabilities: Tensor, kinds=kinds, weights=weights) -> None:
            measured = instead(probabilities) if instead else probabilities
            shares[layer] += torch.einsum("bhqk,nbqk,bq->hn", measured.double(), kinds, weights)

        model.observe_attention(batch, add)
    return (shares / words).cpu()


def uniform(probabilities: Tensor) -> Tensor:
    """Attention [B, H, T, T] that is even over the tokens that the layer lets a query see, as its own shows.

    That is all of a pair in an encoder; a decoder sees nothing that comes later, some families a window alone. A token
    to which no head of the layer gives anything, as padding, counts as unseen.
    """
    seen = (probabilities > 0).any(1, keepdim=True).expand_as(probabilities)
    return seen / seen.sum(-1, keepdim=True).clamp(min=1)


def word_weights(kinds: Tensor) -> Tensor:
    """1 / (tokens of its word) for every asking token, 0 for special tokens and padding, [B, T]."""
    sizes = kinds[KINDS.index("self")].sum(-1)
    return torch.where(sizes > 0, 1 / sizes.clamp(min=1), 0)


@torch.no_grad()
def attention_map(model: Model, pair: WordPair, mask: Mask | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities [layers, H, T, T] of one pair, and the kind of each (query, key), object [T, T], None for none.

    mask: of the components that are kept; default: all of them.
    """
    batch = PairTensors(as_encoded([pair]), model.pad, model.device).batch(torch.arange(1))
    seen: dict[int, Tensor] = {}
    model.observe_attention(
        batch,
        lambda layer, probabilities: seen.__setitem__(layer, probabilities[0].cpu()),
        mask.on(batch) if mask else None,
    )
    relations = relations_of([pair], batch.mask())[:, 0].cpu()
    number = torch.where(relations.any(0), relations.long().argmax(0), -1)
    probabilities = torch.stack([seen[layer] for layer in range(model.grid.layers)])
    return probabilities.double().numpy(), np.array([*KINDS, None], dtype=object)[number.numpy()]


def share_rows(run: Identity, model: Model, pairs: Sequence[WordPair]) -> list[dict]:
    """Table `attention` of one model."""
    shares, identity = attention_shares(model, pairs), _first(run.columns(1, last="step"))
    return [
        identity | _first(_columns([head])) | {"category": kind, "share": share, "n": len(pairs)}
        for head in _heads(model)
        for kind, share in zip(KINDS, shares[head.layer, head.head].tolist(), strict=True)
    ]


def overlap_rows(run: Identity, model: Model, pairs: Sequence[WordPair], times_uniform: float) -> list[dict]:
    """Table `overlap_heads` of the model that a run starts from.

    times_uniform: setting `analysis.overlap_times_uniform`.
    """
    repeated = KINDS.index("repeated")
    own, even = (attention_shares(model, pairs, instead)[..., repeated].tolist() for instead in (None, uniform))
    identity, rows = _first(run.columns(1, last="ft_seed")), []
    for head in _heads(model):
        share, by_chance = (shares[head.layer][head.head] for shares in (own, even))
        found = {"share": share, "uniform": by_chance, "overlap": share >= times_uniform * by_chance > 0}
        rows.append(identity | _first(_columns([head])) | found | {"n": len(pairs)})
    return rows


def map_table(run: Identity, model: Model, pairs: Sequence[WordPair], mask: Mask | None = None) -> pa.Table:
    """Table `attention_maps` of one model: for every pair and head, each asking and each attended token.

    mask: see :func:`attention_map`; rows of heads that it removes are there, too.
    """
    parts, heads = [as_table("attention_maps", [])], _heads(model)
    for number, pair in enumerate(pairs):
        probabilities, kinds = attention_map(model, pair, mask)
        query, key = (np.tile(places.ravel(), len(heads)) for places in np.indices(kinds.shape))
        tokens, sentences = np.array(pair.tokens, dtype=object), np.array(pair.sentences, dtype=object)
        columns = run.columns(probabilities.size, last="step")
        columns |= {name: np.repeat(values, kinds.size) for name, values in _columns(heads).items()}
        columns |= {"pair": np.full(probabilities.size, number), "query": query, "key": key}
        columns |= {"query_token": tokens[query], "key_token": tokens[key]}
        columns |= {"sentence": sentences[query], "key_sentence": sentences[key]}
        columns |= {"category": kinds[query, key], "probability": probabilities.ravel()}
        parts.append(as_table("attention_maps", columns))
    return pa.concat_tables(parts)


def _heads(model: Model) -> list[Component]:
    return [component for component in model.grid if component.kind == "head"]


def _columns(heads: Sequence[Component]) -> dict[str, list]:
    return {name: [getattr(head, name) for head in heads] for name in COMPONENT if name != "component"} | {
        "component": [head.index for head in heads]
    }


def _first(columns: Mapping[str, Sequence]) -> dict:
    return {name: values[0] for name, values in columns.items()}
