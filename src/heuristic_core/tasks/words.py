"""The words behind a pair's tokens: several subword tokens may make one word.

A word is what the tokenizer's pre-tokenizer takes for one, cut further at white space and punctuation, at which those
of SentencePiece models do not split ("actor." would not repeat "actor"). Its text is read from the sentence, so that
neither case nor the way it was cut into subwords matters.
"""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tokenizers import Encoding, Tokenizer

from heuristic_core.common.errors import InputError
from heuristic_core.tasks.encoded import Encoded, from_lists, token_types

CONTINUED = "·"  # before the text of a token that goes on with a word
SPACE = "␣"  # the text of a token that is white space alone


class WordPair(NamedTuple):
    """One pair, token by token, special tokens included.

    ids: as ``tasks.encode`` gives them. sentences: 0 or 1. words: number of the token's word, from 0, running through
    both sentences. texts: that word in lower case. All three are None on special tokens. tokens: text to print.
    """

    ids: list[int]
    sentences: list[int | None]
    words: list[int | None]
    texts: list[str | None]
    tokens: list[str]


def word_pairs(folder: str | Path, pairs: Sequence[tuple[str, str]], max_length: int) -> list[WordPair]:
    """Encode `pairs` of sentences, cut at `max_length` tokens, just as ``tasks.encode.encode`` does.

    folder: of the saved tokenizer. Its file is read without transformers, whose import takes seconds.
    Raises InputError where the folder has no such file.
    """
    tokenizer = _tokenizer(folder)
    saved = tokenizer.truncation or {}
    tokenizer.enable_truncation(max_length, strategy="longest_first", direction=saved.get("direction", "right"))
    tokenizer.no_padding()
    encodings = tokenizer.encode_batch([tuple(pair) for pair in pairs])
    return [_word_pair(encoding, pair) for encoding, pair in zip(encodings, pairs, strict=True)]


def unknown_words(folder: str | Path, pairs: Sequence[WordPair]) -> list[str]:
    """Words of `pairs` for which the tokenizer in `folder` has nothing but its token for the unknown; each once.

    None of a tokenizer without such a token, as GPT-2's: it cuts any word into letters.
    """
    tokenizer = _tokenizer(folder)
    token = getattr(tokenizer.model, "unk_token", None)
    number = tokenizer.token_to_id(token) if token else None
    texts = (text for pair in pairs for id, text in zip(pair.ids, pair.texts, strict=True) if id == number and text)
    return list(dict.fromkeys(texts))


def as_encoded(pairs: Sequence[WordPair]) -> Encoded:
    """The same pairs as a set for a model; their labels, of no use here, are 0."""
    types = [token_types(pair.sentences) for pair in pairs]
    special = [[sentence is None for sentence in pair.sentences] for pair in pairs]
    return from_lists([pair.ids for pair in pairs], types, special, [0] * len(pairs))


def _tokenizer(folder: str | Path) -> Tokenizer:
    path = Path(folder) / "tokenizer.json"
    if not path.is_file():
        raise InputError(f"{path}: no such file; words are known for tokenizers with one (fast tokenizers) only")
    return Tokenizer.from_file(str(path))


def _word_pair(encoding: Encoding, sentences: tuple[str, str]) -> WordPair:
    words, tokens, spans = [], [], []
    last = None  # sentence, the pre-tokenizer's number and end of the last ordinary token
    rows = zip(encoding.tokens, encoding.sequence_ids, encoding.word_ids, encoding.offsets, strict=True)
    for token, sentence, number, (start, end) in rows:
        if sentence is None:
            words.append(None)
            tokens.append(token)
            continue
        whole, text = sentences[sentence], sentences[sentence][start:end]
        if last and last[:2] == (sentence, number) and _joined(whole[: last[2]], whole[min(last[2], start) : end]):
            spans[-1] = (sentence, spans[-1][1], end)
            tokens.append(CONTINUED + text)
        else:
            spans.append((sentence, start, end))
            tokens.append(text.strip() or SPACE)
        words.append(len(spans) - 1)
        last = sentence, number, end
    texts = [sentences[sentence][start:end].strip().lower() for sentence, start, end in spans]
    known = [None if word is None else texts[word] for word in words]
    return WordPair(encoding.ids, encoding.sequence_ids, words, known, tokens)


def _joined(before: str, text: str) -> bool:
    """Whether `text`, which follows on `before`, goes on with its word."""
    return not text[:1].isspace() and _punctuation(before[-1:]) == _punctuation(text[:1])


def _punctuation(letter: str) -> bool:
    return letter != "" and unicodedata.category(letter)[0] in "PS"
