"""Measure how much of each set the tokenizer covers: it cuts the ends of long pairs, and does not know some words."""

import logging
from collections.abc import Mapping, Sequence

from heuristic_core.common.errors import InputError
from heuristic_core.data.encode import Tokenised
from heuristic_core.data.pairs import name_sets

LOGGER = logging.getLogger(__name__)
# Shares of a set's pairs, and of its tokens; higher ones cause a warning.
MAX_TRUNCATED_SHARE, MAX_UNKNOWN_SHARE = 0.01, 0.05
MAX_LISTED = 5  # sets or words in a message


def add_coverage(counts: Sequence[Mapping], train: Tokenised, evaluation: Tokenised) -> list[dict]:
    """Return rows of table `splits`: the counts, with what the tokenizer does not cover of the used pairs.

    Args:
        counts: rows of :func:`heuristic_core.data.counts.count_rows`, training first.
        train: Training pairs.
        evaluation: the evaluation pairs.
    """
    slices = {subset.name: (subset.start, subset.stop) for subset in evaluation.pairs.subsets}
    coverages = [_measure_coverage(train, 0, len(train.pairs))]
    coverages += [_measure_coverage(evaluation, *slices.get(row["subset"], (0, 0))) for row in counts[1:]]
    return [dict(row) | coverage for row, coverage in zip(counts, coverages, strict=True)]


def warn_of_low_coverage(rows: Sequence[Mapping], train: Tokenised, evaluation: Tokenised, max_length: int) -> None:
    """Log how much of each set of table `splits` is truncated or unknown, and warn of large shares.

    Args:
        rows: rows of table `splits`.
        train: Training pairs.
        evaluation: the evaluation pairs.
        max_length: maximum number of tokens of a pair.

    Raises:
        InputError: all tokens of training, or of the evaluation sets, are unknown.
    """
    for name, row in zip(name_sets(rows), rows, strict=True):
        if row["used"]:
            values = row["truncated"], row["used"], max_length, 100 * row["unknown_share"]
            LOGGER.info("%s: %d of %d pairs are longer than %d tokens; %.2f %% of tokens are unknown", name, *values)
    for key, tokenised in (("task.train", train), ("task.evaluation", evaluation)):
        if tokenised.unknown.any() and tokenised.unknown.sum() == (tokenised.pairs.special == 0).sum():
            raise InputError(
                f"{key}: every token is unknown to the tokenizer, such as {_list_unknown_words(tokenised)}. "
                "Was the model trained with this tokenizer, and are the pairs in the model's language?"
            )
    if truncated_sets := _list_sets_above(rows, "truncated_share", MAX_TRUNCATED_SHARE):
        LOGGER.warning(
            "task.max_length = %d truncates long pairs: %s; raise it up to the number of positions of the model",
            max_length,
            truncated_sets,
        )
    if unknown_sets := _list_sets_above(rows, "unknown_share", MAX_UNKNOWN_SHARE):
        words = _list_unknown_words(train if train.unknown_words else evaluation)
        LOGGER.warning(
            "unknown tokens: %s, such as %s; was the model trained with this tokenizer, and are"
            " the pairs in the model's language?",
            unknown_sets,
            words,
        )


def _measure_coverage(tokenised: Tokenised, start: int, stop: int) -> dict:
    if start == stop:
        return {"truncated": 0, "truncated_share": None, "unknown_share": None}
    first, end = tokenised.pairs.offsets[start], tokenised.pairs.offsets[stop]
    truncated, unknown = int(tokenised.truncated[start:stop].sum()), int(tokenised.unknown[first:end].sum())
    tokens = int((tokenised.pairs.special[first:end] == 0).sum())
    shares = {"truncated_share": truncated / (stop - start), "unknown_share": unknown / tokens if tokens else 0.0}
    return {"truncated": truncated} | shares


def _list_sets_above(rows: Sequence[Mapping], column: str, limit: float) -> str:
    """List the sets whose share is above a limit, the highest first; empty if there are none."""
    shares = [(row[column] or 0, name) for name, row in zip(name_sets(rows), rows, strict=True)]
    above = sorted((item for item in shares if item[0] > limit), key=lambda item: -item[0])
    text = ", ".join(f"{100 * share:.1f} % ({name})" for share, name in above[:MAX_LISTED])
    return text + (f" and of {len(above) - MAX_LISTED:,} more sets" if len(above) > MAX_LISTED else "")


def _list_unknown_words(tokenised: Tokenised) -> str:
    return ", ".join(map(repr, tokenised.unknown_words[:MAX_LISTED]))
