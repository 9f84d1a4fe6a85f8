"""Encode sentence pairs as token arrays with the model's Hugging Face tokenizer."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heuristic_core.common.errors import InputError, format_count
from heuristic_core.data.encoded import Encoded, Subset, get_token_types, pack_lists
from heuristic_core.data.pairs import SubsetRule, find_length_error, get_sentences
from heuristic_core.data.targets import is_cut_off

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MAX_UNKNOWN_TOKENS = 1000  # first unknown tokens, whose words are counted


class Tokenised(NamedTuple):
    """Encoded pairs, and what the tokenizer lost of them.

    Attributes:
        pairs: the encoded pairs.
        truncated: bool [n], whether a pair was truncated.
        unknown: bool [tokens], whether a token is the unknown token.
        unknown_words: texts of unknown tokens, the most frequent first.
    """

    pairs: Encoded
    truncated: np.ndarray
    unknown: np.ndarray
    unknown_words: tuple[str, ...]


def encode(
    rows: Sequence[dict], tokenizer: "PreTrainedTokenizerBase", max_length: int, rules: Sequence[SubsetRule] = ()
) -> Encoded:
    """Encode rows of table `sentences`.

    Args:
        rows: the rows.
        tokenizer: a Hugging Face tokenizer.
        max_length: maximum number of tokens of a pair; longer pairs lose the end of their longer sentence.
        rules: for an evaluation set, its subsets in the order of the rows.

    Raises:
        InputError: `max_length` leaves no room for a token of each sentence.
        ValueError: the rows do not fit `rules`.
    """
    return tokenise(rows, tokenizer, max_length, rules).pairs


def tokenise(
    rows: Sequence[dict], tokenizer: "PreTrainedTokenizerBase", max_length: int, rules: Sequence[SubsetRule] = ()
) -> Tokenised:
    """Encode rows as :func:`encode` does, and report truncated pairs and unknown tokens.

    Args:
        rows: rows of table `sentences`.
        tokenizer: a Hugging Face tokenizer.
        max_length: maximum number of tokens of a pair; longer pairs lose the end of their longer sentence.
        rules: for an evaluation set, its subsets in the order of the rows.

    Raises:
        InputError: `max_length` leaves no room for a token of each sentence.
    """
    # First and second sentences, or single sentences.
    columns = [list(column) for column in zip(*map(get_sentences, rows), strict=True)] or [[], []]
    special = tokenizer.num_special_tokens_to_add(pair=len(columns) == 2)
    if message := find_length_error(special, max_length, len(columns)):
        raise InputError(message)
    encoding = tokenizer(
        *columns,
        truncation="longest_first",
        max_length=max_length,
        return_special_tokens_mask=True,
        return_attention_mask=False,
    )
    has_target = bool(rows) and rows[0].get("target_end") is not None
    pairs = pack_lists(
        encoding["input_ids"],
        [get_token_types(encoding.sequence_ids(row)) for row in range(len(rows))],
        encoding["special_tokens_mask"],
        [row["label"] for row in rows],
        _slice_subsets([row["subset"] for row in rows], rules),
        [row["template"] for row in rows],
        _locate_targets(rows, encoding, max_length) if has_target else None,
    )
    is_longest = pairs.lengths == max_length
    truncated = np.array(
        [
            is_full and bool(pair_encoding.overflowing)
            for is_full, pair_encoding in zip(is_longest, encoding.encodings, strict=True)
        ]
    )
    unknown = (pairs.ids == (-1 if tokenizer.unk_token_id is None else tokenizer.unk_token_id)) & (pairs.special == 0)
    return Tokenised(pairs, truncated.astype(bool), unknown, _find_unknown_texts(rows, encoding, pairs, unknown))


def _locate_targets(rows: Sequence[dict], encoding, max_length: int) -> list[int]:
    """Return the position of the last token of each target; a decoder has then read all of it.

    Raises:
        InputError: `max_length` cuts off a part of a target, or the tokenizer has no token for it.
    """
    positions, lost = [], []
    for row, sentence in zip(rows, encoding.encodings, strict=True):
        target = row["target_start"], row["target_end"]
        tokens = [token for c in range(*target) if (token := sentence.char_to_token(c)) is not None]
        positions.append(max(tokens, default=0))
        if is_cut_off(target, sentence) or not tokens:
            lost.append((bool(sentence.overflowing), row))
    if lost:
        is_cut, row = lost[0]
        target = f"{row['sentence1'][row['target_start'] : row['target_end']]!r} in {row['sentence1']!r}"
        reason = f"task.max_length = {max_length} cuts off" if is_cut else "the tokenizer has no token for"
        remedy = "; raise it" if is_cut else ""
        raise InputError(f"{reason} the target of {format_count(len(lost), 'sentence')}, such as {target}{remedy}")
    return positions


def _find_unknown_texts(rows: Sequence[dict], encoding, pairs: Encoded, unknown: np.ndarray) -> tuple[str, ...]:
    """Return the texts of the first unknown tokens, the most frequent first."""
    positions = np.flatnonzero(unknown)[:MAX_UNKNOWN_TOKENS]
    texts: Counter[str] = Counter()
    for position, pair in zip(positions, np.searchsorted(pairs.offsets, positions, side="right") - 1, strict=True):
        token = int(position - pairs.offsets[pair])
        start, end = encoding.encodings[pair].offsets[token]
        texts[rows[pair]["sentence2" if pairs.types[position] else "sentence1"][start:end]] += 1
    return tuple(text for text, _ in texts.most_common())


def _slice_subsets(names: list[str], rules: Sequence[SubsetRule]) -> tuple[Subset, ...]:
    subsets, start = [], 0
    for rule in rules:
        stop = start + names.count(rule.name)
        if set(names[start:stop]) != {rule.name}:
            raise ValueError(f"the rows of subset {rule.name} are missing or not contiguous")
        subsets.append(Subset(rule.name, rule.group, rule.family, rule.merge, start, stop))
        start = stop
    if rules and start < len(names):
        raise ValueError(f"{len(names) - start} rows belong to no subset, the first of them to {names[start]}")
    return tuple(subsets)
