"""What the tokenizer loses of each set: ends of pairs that are too long, and words that it does not know."""

import logging
from collections.abc import Mapping, Sequence

from heuristic_core.common.errors import InputError
from heuristic_core.tasks.encode import Tokenised
from heuristic_core.tasks.pairs import set_names

LOGGER = logging.getLogger(__name__)
TRUNCATED, UNKNOWN = 0.01, 0.05  # shares of a set's pairs, and of its tokens, above which a person is warned
LISTED = 5  # sets, and words, that a message names


def split_rows(counts: Sequence[Mapping], train: Tokenised, evaluation: Tokenised) -> list[dict]:
    """Rows of table `splits`: `counts` of rows, with what the tokenizer lost of the pairs used."""
    slices = {subset.name: (subset.start, subset.stop) for subset in evaluation.pairs.subsets}
    lost = [_lost(evaluation, *slices.get(row["subset"], (0, 0))) for row in counts[1:]]
    return [dict(row) | one for row, one in zip(counts, [_lost(train, 0, len(train.pairs)), *lost], strict=True)]


def warn_of_losses(rows: Sequence[Mapping], train: Tokenised, evaluation: Tokenised, max_length: int) -> None:
    """Log the losses of each set of table `splits`, and warn of large ones.

    Raises InputError where the tokenizer knows no word of training, or of the evaluation sets.
    """
    for name, row in zip(set_names(rows), rows, strict=True):
        if row["used"]:
            shares = row["truncated"], row["used"], max_length, 100 * row["unknown_share"]
            LOGGER.info("%s: %d of %d pairs are longer than %d tokens; %.2f %% of tokens are unknown", name, *shares)
    for key, tokenised in (("task.train", train), ("task.evaluation", evaluation)):
        if tokenised.unknown.any() and tokenised.unknown.sum() == (tokenised.pairs.special == 0).sum():
            raise InputError(
                f"{key}: the tokenizer knows no word, such as {_words(tokenised)}: every token is unknown. Is it the "
                "tokenizer that the model was trained with, and are the pairs in the model's language?"
            )
    if cut := _above(rows, "truncated_share", TRUNCATED):
        LOGGER.warning(
            "task.max_length = %d cuts the end off long pairs: %s; give as much as the model has positions for",
            max_length,
            cut,
        )
    if unknown := _above(rows, "unknown_share", UNKNOWN):
        words = _words(train if train.unknown_words else evaluation)
        LOGGER.warning(
            "tokens that the tokenizer does not know: %s, such as %s; is it the one that the model was trained with, "
            "and are the pairs in the model's language?",
            unknown,
            words,
        )


def _lost(tokenised: Tokenised, start: int, stop: int) -> dict:
    if start == stop:
        return {"truncated": 0, "truncated_share": None, "unknown_share": None}
    first, end = tokenised.pairs.offsets[start], tokenised.pairs.offsets[stop]
    truncated, unknown = int(tokenised.truncated[start:stop].sum()), int(tokenised.unknown[first:end].sum())
    tokens = int((tokenised.pairs.special[first:end] == 0).sum())
    shares = {"truncated_share": truncated / (stop - start), "unknown_share": unknown / tokens if tokens else 0.0}
    return {"truncated": truncated} | shares


def _above(rows: Sequence[Mapping], column: str, limit: float) -> str:
    """The sets whose share is above a limit, the highest first; empty where there are none."""
    shares = [(row[column] or 0, name) for name, row in zip(set_names(rows), rows, strict=True)]
    above = sorted((one for one in shares if one[0] > limit), key=lambda one: -one[0])
    text = ", ".join(f"{100 * share:.1f} % ({name})" for share, name in above[:LISTED])
    return text + (f" and of {len(above) - LISTED:,} more sets" if len(above) > LISTED else "")


def _words(tokenised: Tokenised) -> str:
    return ", ".join(map(repr, tokenised.unknown_words[:LISTED]))
