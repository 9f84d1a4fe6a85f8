"""Map the tokens of sentence pairs to words.

Words are those of the tokenizer's pre-tokenizer, split further at white space and punctuation, because those of
SentencePiece models are not ("actor." would not match "actor"). The text of a word is read from the sentence and
lower-cased, so that neither case nor subwords matter.
"""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tokenizers import Encoding, Tokenizer

from heuristic_core.common.errors import InputError
from heuristic_core.data.encoded import Encoded, get_token_types, pack_lists

CONTINUATION_MARK = "·"  # precedes the text of a token that continues a word
SPACE_MARK = "␣"  # text of a token of white space only


class WordPair(NamedTuple):
    """One pair or sentence, token by token, including special tokens.

    Attributes:
        ids: token ids, as from :func:`heuristic_core.data.encode.encode`.
        sentences: sentence of each token, 0 or 1; None for special tokens.
        words: index of each token's word, counted through both sentences; None for special tokens.
        texts: that word in lower case; None for special tokens.
        tokens: text of each token to print.
    """

    ids: list[int]
    sentences: list[int | None]
    words: list[int | None]
    texts: list[str | None]
    tokens: list[str]


def encode_word_pairs(folder: str | Path, pairs: Sequence[tuple[str, ...]], max_length: int) -> list[WordPair]:
    """Encode pairs of sentences as :func:`heuristic_core.data.encode.encode` does, with their words.

    Reads the tokenizer's file without transformers, whose import takes seconds.

    Args:
        folder: folder of the saved tokenizer.
        pairs: pairs of sentences, or single sentences as tuples of one.
        max_length: maximum number of tokens of a pair; longer pairs are truncated.

    Raises:
        InputError: the folder has no ``tokenizer.json``.
    """
    tokenizer = _load_tokenizer(folder)
    saved = tokenizer.truncation or {}
    tokenizer.enable_truncation(max_length, strategy="longest_first", direction=saved.get("direction", "right"))
    tokenizer.no_padding()
    encodings = tokenizer.encode_batch([tuple(pair) if len(pair) == 2 else pair[0] for pair in pairs])
    return [_make_word_pair(encoding, pair) for encoding, pair in zip(encodings, pairs, strict=True)]


def find_unknown_words(folder: str | Path, pairs: Sequence[WordPair]) -> list[str]:
    """Return the distinct words of `pairs` that the tokenizer in `folder` encodes as its unknown token.

    Empty for tokenizers without an unknown token, such as GPT-2's, which split any word into bytes.

    Args:
        folder: Folder of the saved tokenizer.
        pairs: Pairs that :func:`encode_word_pairs` returned.
    """
    tokenizer = _load_tokenizer(folder)
    token = getattr(tokenizer.model, "unk_token", None)
    unknown_id = tokenizer.token_to_id(token) if token else None
    texts = (text for pair in pairs for id, text in zip(pair.ids, pair.texts, strict=True) if id == unknown_id and text)
    return list(dict.fromkeys(texts))


def to_encoded(pairs: Sequence[WordPair]) -> Encoded:
    """Pack word pairs into an encoded set with all labels 0."""
    types = [get_token_types(pair.sentences) for pair in pairs]
    special = [[sentence is None for sentence in pair.sentences] for pair in pairs]
    return pack_lists([pair.ids for pair in pairs], types, special, [0] * len(pairs))


def _load_tokenizer(folder: str | Path) -> Tokenizer:
    path = Path(folder) / "tokenizer.json"
    if not path.is_file():
        raise InputError(f"{path}: no such file; words need a fast tokenizer, which has one")
    return Tokenizer.from_file(str(path))


def _make_word_pair(encoding: Encoding, sentences: tuple[str, ...]) -> WordPair:
    words, tokens, spans = [], [], []
    previous = None  # (sentence, pre-tokenizer's word id, end) of the last ordinary token
    rows = zip(encoding.tokens, encoding.sequence_ids, encoding.word_ids, encoding.offsets, strict=True)
    for token, sentence, word_id, (start, end) in rows:
        if sentence is None:
            words.append(None)
            tokens.append(token)
            continue
        sentence_text, text = sentences[sentence], sentences[sentence][start:end]
        if (
            previous
            and previous[:2] == (sentence, word_id)
            and _continues_word(sentence_text[: previous[2]], sentence_text[min(previous[2], start) : end])
        ):
            spans[-1] = (sentence, spans[-1][1], end)
            tokens.append(CONTINUATION_MARK + text)
        else:
            spans.append((sentence, start, end))
            tokens.append(text.strip() or SPACE_MARK)
        words.append(len(spans) - 1)
        previous = sentence, word_id, end
    texts = [sentences[sentence][start:end].strip().lower() for sentence, start, end in spans]
    token_words = [None if word is None else texts[word] for word in words]
    return WordPair(encoding.ids, encoding.sequence_ids, words, token_words, tokens)


def _continues_word(before: str, text: str) -> bool:
    """Return whether `text`, which follows `before`, continues its word."""
    return not text[:1].isspace() and _is_punctuation(before[-1:]) == _is_punctuation(text[:1])


def _is_punctuation(character: str) -> bool:
    return character != "" and unicodedata.category(character)[0] in "PS"
