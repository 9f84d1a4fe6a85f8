"""Targets: words within sentences that are classified, as files give them."""

import re
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Encoding

SPAN_PATTERN = re.compile(r"(-?\d+)\s*:\s*(-?\d+)", re.ASCII)
WORD_PATTERN = re.compile(r"\S+")


def find_target(value: Any, sentence: str) -> tuple[int, int]:
    """Find a target in its sentence.

    Args:
        value: The word, if it occurs once; its index among the words, counted from 0 and separated by white space; or
            the span of its characters, as text "start:end" or two integers.
        sentence: The sentence.

    Returns:
        First character, and the character after the last.

    Raises:
        ValueError: There is no such target, or the value has several meanings.
    """
    if value is None or value == "" or value != value:
        raise ValueError(f"is missing; name the word of {sentence!r} that is classified")
    if isinstance(value, str):
        return _find_text(value.strip(), sentence)
    if isinstance(value, Real) and not isinstance(value, bool) and float(value).is_integer():
        return _find_word_number(int(value), sentence)  # a column of integers with nulls is one of floats
    if isinstance(value, list | tuple) and len(value) == 2 and all(type(end) is int for end in value):
        return _check_span(*value, sentence)
    raise ValueError(f"is neither a word, nor its index, nor its characters as start:end, in {sentence!r}")


def _find_text(text: str, sentence: str) -> tuple[int, int]:
    """Read a text as a word, an index and a span, of which one must be in the sentence."""
    readings = [partial(_find_word, text)]
    if text.isdecimal():
        readings.insert(0, partial(_find_word_number, int(text)))
    if match := SPAN_PATTERN.fullmatch(text):
        readings.insert(0, partial(_check_span, int(match[1]), int(match[2])))
    places, errors = set(), []
    for read in readings:
        try:
            places.add(read(sentence))
        except ValueError as error:
            errors.append(error)
    if len(places) > 1:
        words = " or ".join(repr(sentence[start:end]) for start, end in sorted(places))
        raise ValueError(f"may be {words} in {sentence!r}; name the target in another way")
    if not places:
        raise errors[0]
    return places.pop()


def _check_span(start: int, end: int, sentence: str) -> tuple[int, int]:
    if not 0 <= start < end <= len(sentence):
        raise ValueError(f"is no part of a sentence of {len(sentence)} characters, {sentence!r}")
    if not (text := sentence[start:end]).strip():
        raise ValueError(f"has nothing but white space in {sentence!r}")
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def _find_word_number(number: int, sentence: str) -> tuple[int, int]:
    words = list(WORD_PATTERN.finditer(sentence))
    if not 0 <= number < len(words):
        raise ValueError(f"is no index of the {len(words)} words, from 0, of {sentence!r}")
    start, end = words[number].span()
    letters = [position for position in range(start, end) if sentence[position].isalnum()]
    return (letters[0], letters[-1] + 1) if letters else (start, end)  # without punctuation around a word


def _find_word(word: str, sentence: str) -> tuple[int, int]:
    places = _find_words(word, sentence)
    if len(places) != 1:
        hint = "; give its index among the words, or its characters as start:end"
        hint = hint if places else "; name a word as it is written, upper and lower case included"
        raise ValueError(f"occurs {len(places)} times in {sentence!r}{hint}")
    return places[0]


def _find_words(word: str, sentence: str) -> list[tuple[int, int]]:
    """Return the places where a word is not a part of a longer one."""
    if not word:
        return []
    return [match.span() for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", sentence)]


def is_cut_off(target: tuple[int, int], encoding: "Encoding") -> bool:
    """Return whether truncation has cut off an end of a target. Normalisers may drop characters elsewhere.

    Args:
        target: First character of the target in the first sentence, and the one after its last.
        encoding: The tokens of the sentence.
    """
    ends = target[0], target[1] - 1
    return bool(encoding.overflowing) and any(encoding.char_to_token(end) is None for end in ends)
