"""From sentence pairs to token arrays, with the model's own Hugging Face tokenizer."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from heuristic_core.common.errors import InputError
from heuristic_core.tasks.encoded import Encoded, Subset, from_lists, token_types
from heuristic_core.tasks.pairs import SubsetRule, no_room

LOOKED_AT = 1000  # unknown tokens, the first, whose words are counted


class Tokenised(NamedTuple):
    """Encoded pairs, and what their tokenizer could not keep of them.

    truncated: bool [n], whether a pair was longer than allowed. unknown: bool [tokens], the tokens that stand for what
    the tokenizer does not know. unknown_words: texts of such tokens, the most frequent first.
    """

    pairs: Encoded
    truncated: np.ndarray
    unknown: np.ndarray
    unknown_words: tuple[str, ...]


def encode(rows: Sequence[dict], tokenizer, max_length: int, rules: Sequence[SubsetRule] = ()) -> Encoded:
    """Encode rows of table `sentences`; pairs beyond `max_length` tokens lose the end of their longer sentence.

    rules: for an evaluation set, its subsets in the order of the rows.
    """
    return tokenise(rows, tokenizer, max_length, rules).pairs


def tokenise(rows: Sequence[dict], tokenizer, max_length: int, rules: Sequence[SubsetRule] = ()) -> Tokenised:
    """The same as :func:`encode`, with what was lost.

    Raises InputError where `max_length` leaves no token of a sentence beside one of the other.
    """
    if message := no_room(tokenizer.num_special_tokens_to_add(pair=True), max_length):
        raise InputError(message)
    encoding = tokenizer(
        [row["sentence1"] for row in rows],
        [row["sentence2"] for row in rows],
        truncation="longest_first",
        max_length=max_length,
        return_special_tokens_mask=True,
        return_attention_mask=False,
    )
    pairs = from_lists(
        encoding["input_ids"],
        [token_types(encoding.sequence_ids(row)) for row in range(len(rows))],
        encoding["special_tokens_mask"],
        [row["label"] for row in rows],
        _slices([row["subset"] for row in rows], rules),
        [row["template"] for row in rows],
    )
    longest = pairs.lengths == max_length
    truncated = np.array(
        [full and bool(one.overflowing) for full, one in zip(longest, encoding.encodings, strict=True)]
    )
    unknown = (pairs.ids == (-1 if tokenizer.unk_token_id is None else tokenizer.unk_token_id)) & (pairs.special == 0)
    return Tokenised(pairs, truncated.astype(bool), unknown, _texts(rows, encoding, pairs, unknown))


def _texts(rows: Sequence[dict], encoding, pairs: Encoded, unknown: np.ndarray) -> tuple[str, ...]:
    """What the first unknown tokens stand for, the most frequent first."""
    places = np.flatnonzero(unknown)[:LOOKED_AT]
    texts: Counter[str] = Counter()
    for place, pair in zip(places, np.searchsorted(pairs.offsets, places, side="right") - 1, strict=True):
        token = int(place - pairs.offsets[pair])
        start, end = encoding.encodings[pair].offsets[token]
        texts[rows[pair]["sentence2" if pairs.types[place] else "sentence1"][start:end]] += 1
    return tuple(text for text, _ in texts.most_common())


def _slices(names: list[str], rules: Sequence[SubsetRule]) -> tuple[Subset, ...]:
    subsets, start = [], 0
    for rule in rules:
        stop = start + names.count(rule.name)
        if set(names[start:stop]) != {rule.name}:
            raise ValueError(f"the rows of subset {rule.name} are not together, or there are none")
        subsets.append(Subset(rule.name, rule.group, rule.family, rule.merge, start, stop))
        start = stop
    if rules and start < len(names):
        raise ValueError(f"{len(names) - start} rows belong to no subset, the first of them to {names[start]}")
    return tuple(subsets)
