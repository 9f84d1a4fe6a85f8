"""Assertions on messages by what they name, not by their sentences."""

import re
from contextlib import contextmanager

import pytest


def mentions(text: str, *tokens: object) -> bool:
    """Whether `text` has every token, as a word of its own if the token is made of word characters."""
    return all(re.search(rf"(?<!\w){re.escape(str(token))}(?!\w)", text) for token in tokens)


def mentions_together(text: str, *tokens: object) -> bool:
    """Whether one clause of `text` mentions all tokens, as of a number and what is counted."""
    return any(mentions(clause, *tokens) for clause in re.split(r"[,;:.] ", text))


@contextmanager
def raises(error: type[Exception], *tokens: object):
    """Expect an error whose message mentions all tokens."""
    with pytest.raises(error) as caught:
        yield caught
    assert mentions(str(caught.value), *tokens), str(caught.value)
