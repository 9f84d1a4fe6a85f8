"""Kinds of attended tokens on a sentence pair written out by hand."""

import torch

from heuristic_core.attention import KINDS, attention_shares, token_relations

#        CLS  a  b  SEP b  c  SEP pad
IDS = torch.tensor([[1, 7, 8, 2, 8, 9, 2, 0]])
TYPES = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 0]])
SPECIAL = torch.tensor([[1, 0, 0, 1, 0, 0, 1, 0]]).bool()
REAL = torch.tensor([[1, 1, 1, 1, 1, 1, 1, 0]]).bool()


def kinds_seen_from(query):
    kinds = token_relations(IDS, TYPES, SPECIAL, REAL)[:, 0, query]
    assert kinds.sum(0).tolist() == [1] * 7 + [0]  # one kind each, none for padding
    return [KINDS[k] for k in kinds[:, :7].long().argmax(0).tolist()]


def test_kinds_of_a_pair():
    assert kinds_seen_from(2) == ["first", "previous", "self", "separator", "repeated", "other", "separator"]
    assert kinds_seen_from(4) == ["first", "other", "repeated", "separator", "self", "next", "separator"]
    assert kinds_seen_from(1) == ["first", "self", "next", "separator", "other", "other", "separator"]


def test_shares_of_a_head_add_up_to_1_and_follow_its_attention(fused, encoded, pairs):
    special = [torch.from_numpy(mark).bool() for mark in encoded.split(encoded.special)]
    shares = attention_shares(fused, pairs, special, 20)
    assert shares.shape == (3, 4, len(KINDS))
    torch.testing.assert_close(shares.sum(-1), torch.ones(3, 4, dtype=torch.float64), atol=1e-6, rtol=0)

    total, queries = torch.zeros(3, 4, dtype=torch.float64), 0
    for pair in range(20):  # attention to oneself, by a plain loop
        batch = pairs.batch(torch.tensor([pair]))
        seen = {}
        fused.observe_attention(batch, seen.__setitem__)
        words = torch.nonzero(~special[pair]).flatten()
        queries += len(words)
        for layer, probabilities in seen.items():
            total[layer] += probabilities[0][:, words, words].sum(-1)
    torch.testing.assert_close(shares[..., 0], total / queries, atol=1e-6, rtol=0)
