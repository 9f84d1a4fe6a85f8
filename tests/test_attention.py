"""Kinds of attended tokens and shares of attention, on pairs and probabilities written out by hand."""

import numpy as np
import pytest
import torch
from mentions import raises

from heuristic_core.common.errors import InputError
from heuristic_core.data.words import WordPair
from heuristic_core.interventions.attention import (
    RELATIONS,
    attention_map,
    attention_shares,
    batch_relations,
    example_pairs,
    in_domain_pairs,
    map_table,
    share_rows,
)
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_table

LETTERS = {"=": "self", "R": "repeated", "1": "first", "S": "separator", "<": "previous", ">": "next", ".": "other"}


def make_pair(first, second, leading=True, separators=True):
    """A pair in which `-` parts the subwords of a word: "the doc-tor", with BERT's special tokens or GPT-2's none."""
    sentences, words, texts, tokens = [], [], [], []

    def special():
        sentences.append(None), words.append(None), texts.append(None), tokens.append("[S]")

    if leading:
        special()
    number = 0
    for sentence, text in enumerate((first, second)):
        for word in text.split():
            for part in word.split("-"):
                sentences.append(sentence), words.append(number), tokens.append(part)
                texts.append(word.replace("-", "").lower())
            number += 1
        if separators:
            special()
    return WordPair(list(range(len(words))), sentences, words, texts, tokens)


def seen(pair):
    """For every asking token what the others are to it, one letter each; nothing for special tokens."""
    relations = batch_relations([pair], torch.ones(1, len(pair.ids), dtype=torch.bool))[:, 0]
    names = {kind: letter for letter, kind in LETTERS.items()}
    rows = [[names[RELATIONS[k]] for k in row.long().argmax(0)] if row.any() else [] for row in relations.unbind(1)]
    return ["".join(row) for row in rows]


@pytest.mark.parametrize(
    ("pair", "query", "expected"),
    [  #                             [S] a b [S] b c [S]
        (make_pair("a b", "b c"), 1, "1=>S..S"),
        (make_pair("a b", "b c"), 2, "1<=SR.S"),  # next to b is the border, not c
        (make_pair("a b", "b c"), 4, "1.RS=>S"),
        (make_pair("a b", "b c"), 5, "1..S<=S"),
        # Subwords: [S] do c tor sa w [S] ran do c tor [S]
        (make_pair("do-c-tor sa-w", "ran do-c-tor"), 2, "1===>>S.RRRS"),
        (make_pair("do-c-tor sa-w", "ran do-c-tor"), 5, "1<<<==S....S"),
        (make_pair("do-c-tor sa-w", "ran do-c-tor"), 7, "1.....S=>>>S"),
        (make_pair("runn-ing", "see-ing"), 2, "1==S..S"),  # the same last subword, another word
        (make_pair("doctor", "doc-tor"), 1, "1=SRRS"),  # one word, cut in two ways
        (make_pair("The a the", "the"), 1, "1=>.SRS"),  # its own sentence repeats nothing; case does not matter
        (make_pair("a b", "a b", leading=False, separators=False), 1, "1=.R"),
        (make_pair("a b", "a b", leading=False, separators=False), 2, "1.=>"),  # first, though it repeats
        (make_pair("a b", "a b", leading=False, separators=False), 0, "=>R."),
        (make_pair("a", "a"), 0, ""),  # a special token does not ask
    ],
)
def test_kinds_seen_from_a_token(pair, query, expected):
    assert seen(pair)[query] == expected


def test_a_word_without_text_is_never_repeated():
    pair = make_pair("a", "a")._replace(texts=[None, "", None, "", None])
    assert seen(pair)[1] == "1=S.S"


def test_padding_is_neither_asked_nor_asking():
    short, long = make_pair("a", "a"), make_pair("a b c", "d")
    real = torch.tensor([[True] * 5 + [False] * 2, [True] * 7])
    relations = batch_relations([short, long], real)
    assert not relations[:, 0, 5:].any() and not relations[:, 0, :, 5:].any()
    assert relations[:, 1].sum(0).tolist() == [[0] * 7, [1] * 7, [1] * 7, [1] * 7, [0] * 7, [1] * 7, [0] * 7]


class Given:
    """A model of one layer and two heads with given attention: probabilities by pair, [H, T, T] each."""

    grid, pad, device = ComponentGrid(1, 2), 0, torch.device("cpu")

    def __init__(self, *probabilities):
        self.probabilities = probabilities

    def observe_attention(self, batch, observer):
        longest = batch.ids.shape[1]
        padded = torch.zeros(len(batch.index), 2, longest, longest)
        for row, pair in enumerate(batch.index.tolist()):
            attention = self.probabilities[pair]
            padded[row, :, : attention.shape[-1], : attention.shape[-1]] = attention
        observer(0, padded)


def test_a_share_is_a_mean_over_words_not_tokens():
    # [S] do c [S] doc [S]: two words, the first of two tokens.
    pair = make_pair("do-c", "doc")
    head = torch.zeros(6, 6)
    head[1, 0], head[1, 4], head[1, 5] = 0.5, 0.25, 0.25  # "do": first, repeated, separator
    head[2, 1] = 1.0  # "c": its own word
    head[4, 1], head[4, 2] = 0.5, 0.5  # "doc": both tokens of the repeated word
    head[0, 4] = head[3, 4] = head[5, 4] = 1.0  # special tokens do not ask
    uniform = torch.full((6, 6), 1 / 6)
    shares = attention_shares(Given(torch.stack([head, uniform])), [pair])
    first = {"self": 1 / 4, "first": 1 / 8, "repeated": (1 / 8 + 1) / 2, "separator": 1 / 16}
    assert shares[0, 0].tolist() == pytest.approx([first.get(kind, 0) for kind in RELATIONS])
    second = {"self": (2 / 6 + 1 / 6) / 2, "first": 1 / 6, "repeated": (1 / 6 + 2 / 6) / 2, "separator": 2 / 6}
    assert shares[0, 1].tolist() == pytest.approx([second.get(kind, 0) for kind in RELATIONS])


def test_every_word_of_all_pairs_counts_the_same():
    short_pair, long_pair = make_pair("a", ""), make_pair("a b c", "")
    to_first = torch.zeros(2, 4, 4)
    to_first[:, :, 0] = 1
    to_separator = torch.zeros(2, 6, 6)
    to_separator[:, :, 4] = 1
    shares = attention_shares(Given(to_first, to_separator), [short_pair, long_pair])
    assert shares[0, 0].tolist() == pytest.approx(
        [{"first": 1 / 4, "separator": 3 / 4}.get(kind, 0) for kind in RELATIONS]
    )


# ---- on a tiny BERT


def random_pairs(count):
    """Pairs of one to six words of one or two subwords, each sentence from the same five words."""
    rng = np.random.default_rng(0)
    words = ["a", "b", "c", "d-d", "e-f"]
    sentences = [" ".join(rng.choice(words, rng.integers(1, 6))) for _ in range(2 * count)]
    pairs = [make_pair(first, second) for first, second in zip(sentences[::2], sentences[1::2], strict=True)]
    return [pair._replace(ids=rng.integers(5, 50, len(pair.ids)).tolist()) for pair in pairs]


def test_shares_add_up_to_1_and_are_those_of_the_maps(fused):
    pairs = random_pairs(9)
    shares = attention_shares(fused, pairs)
    assert shares.shape == (3, 4, len(RELATIONS))
    torch.testing.assert_close(shares.sum(-1), torch.ones(3, 4, dtype=torch.float64), atol=1e-6, rtol=0)
    expected, words = np.zeros(shares.shape), 0
    for pair in pairs:  # by plain loops over the maps
        probabilities, kinds = attention_map(fused, pair)
        for query, word in enumerate(pair.words):
            if word is None:
                assert set(kinds[query]) == {None}
                continue
            weight = 1 / pair.words.count(word)
            words += weight
            for key, kind in enumerate(kinds[query]):
                expected[..., RELATIONS.index(kind)] += weight * probabilities[:, :, query, key]
    np.testing.assert_allclose(shares.numpy(), expected / words, atol=1e-6)


def test_tables_name_every_head_and_every_token(fused):
    run, pairs = Identity("s", "m", "t", 1, 600), random_pairs(2)
    shares = as_table("attention", share_rows(run, fused, pairs)).to_pylist()
    assert len(shares) == 12 * len(RELATIONS)
    assert [shares[-1][name] for name in ("step", "component", "name", "category", "n")] == [600, 11, "2.3", "other", 2]
    maps = map_table(run, fused, pairs).to_pylist()
    lengths = [len(pair.ids) for pair in pairs]
    assert len(maps) == 12 * sum(length**2 for length in lengths)
    row = maps[12 * lengths[0] ** 2 + 5 * lengths[1] ** 2 + 2 * lengths[1] + 3]
    probabilities, kinds = attention_map(fused, pairs[1])
    assert row == {
        "study": "s", "model": "m", "task": "t", "ft_seed": 1, "step": 600,
        "component": 5, "name": "1.1", "kind": "head", "layer": 1, "head": 1, "pair": 1, "query": 2, "key": 3,
        "query_token": pairs[1].tokens[2], "key_token": pairs[1].tokens[3], "sentence": pairs[1].sentences[2],
        "key_sentence": pairs[1].sentences[3], "category": kinds[2, 3], "probability": probabilities[1, 1, 2, 3],
    }  # fmt: skip
    assert map_table(run, fused, []).num_rows == 0


# ---- which pairs


def row(group, subset, text):
    return {"group": group, "subset": subset, "label": 0, "sentence1": text, "sentence2": f"{text}?"}


SENTENCES = [row("ood", "x", "x1"), row("id", "a", "a1"), row("ood", "x", "x2"), row("id", "b", "b1")]
SENTENCES += [row("ood-entailment", "y", "y1"), row("ood", "z", "z1"), row("ood", "w", "w1")]


def test_pairs_are_those_of_their_groups():
    assert len(in_domain_pairs(SENTENCES, 1)) == 1
    assert in_domain_pairs(SENTENCES, 9) == [("a1", "a1?"), ("b1", "b1?")]
    assert example_pairs(SENTENCES) == [("x1", "x1?"), ("z1", "z1?")]
    assert example_pairs(SENTENCES[:4]) == [("x1", "x1?")]
    with raises(InputError, "id"):
        in_domain_pairs(SENTENCES[4:], 1)


def test_attention_is_averaged_over_every_subset_and_label():
    """In-domain files that are sorted: 60 and 30 pairs of one subset, by label, and 30 of another one."""
    sizes = {("a", 0): 60, ("a", 1): 30, ("b", 1): 30}
    rows = [row("id", s, f"{s}{label}.{k}") | {"label": label} for (s, label), n in sizes.items() for k in range(n)]
    drawn = [first for first, _ in in_domain_pairs(rows, 40, seed=5)]
    assert [sum(item.startswith(f"{s}{label}.") for item in drawn) for s, label in sizes] == [20, 10, 10]
    assert drawn != [first for first, _ in in_domain_pairs(rows, 40, seed=6)]
    assert drawn == [r["sentence1"] for r in rows if r["sentence1"] in drawn]  # in the file's order
