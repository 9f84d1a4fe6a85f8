"""Encode sentences and questions as tokens, and align the tokens of prompts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Formatter
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.extractive_structures.data import Questions, Sentence
from heuristic_core.experiments.extractive_structures.world import World
from heuristic_core.models.hugging_face import load_tokenizer


class Encoder(Protocol):
    """Words to tokens."""

    def __call__(self, text: str) -> list[int]:
        """Return the tokens of an answer, which follows a prompt."""

    def prompt(self, text: str) -> list[int]:
        """Return the tokens of a prompt."""

    def roles(self, sentence: Sentence) -> tuple[str, ...]:
        """Return the role of each token of the prompt; no role occurs twice."""


class Examples(NamedTuple):
    """Encoded sentences with their answers, padded at the end with zeros, which causal attention ignores.

    Attributes:
        tokens: Tokens of prompts and answers, int64 [n, T].
        prompt: Number of tokens of each prompt, int64 [n].
        length: Number of tokens of each prompt and its answer together, int64 [n].
    """

    tokens: Tensor
    prompt: Tensor
    length: Tensor

    def select(self, index: Tensor) -> "Examples":
        """Return the sentences at `index`, int64 [k], without columns that are padding in all of them."""
        length = self.length[index]
        return Examples(self.tokens[index, : int(length.max())], self.prompt[index], length)


class Queries(NamedTuple):
    """Encoded questions.

    Attributes:
        tokens: Tokens of prompts, int64 [n, T], padded at the end with zeros.
        last: Position of the last token of each prompt, int64 [n].
        options: First token of every option, int64 [k].
        answer: Index of the right option, int64 [n].
    """

    tokens: Tensor
    last: Tensor
    options: Tensor
    answer: Tensor

    def select(self, index: Tensor) -> "Queries":
        """Return the questions at `index`, int64 [k]."""
        return Queries(self.tokens[index], self.last[index], self.options, self.answer[index])


class Vocabulary:
    """The tokenizer of the embedded model: every word of a world is a token.

    Attributes:
        words: All words; a word's position is its token.
    """

    def __init__(self, world: World):
        self.words = sorted({word for text in _texts(world) for word in text.split()})
        self._tokens = {word: token for token, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __call__(self, text: str) -> list[int]:
        """Return the tokens of words.

        Raises:
            InputError: If the world lacks a word.
        """
        if unknown := [word for word in text.split() if word not in self._tokens]:
            raise InputError(f"{unknown[0]!r} of {text!r} is not a word of world.yaml; add it there, or use another")
        return [self._tokens[word] for word in text.split()]

    def prompt(self, text: str) -> list[int]:
        """Return the tokens of a prompt."""
        return self(text)

    def roles(self, sentence: Sentence) -> tuple[str, ...]:
        """Return the roles of the prompt's words, which are its tokens."""
        return sentence.roles


class HubTokenizer:
    """The tokenizer of a model that was pre-trained elsewhere.

    Args:
        folder: Folder of the tokenizer's files.

    Raises:
        InputError: If tokenizer.json is missing.
    """

    def __init__(self, folder: str | Path):
        self._tokenizer = load_tokenizer(folder)
        if not self._tokenizer.is_fast:
            raise InputError(
                f"{folder}: tokenizer.json is missing; add it, because only a fast tokenizer reports where words end"
            )

    def __call__(self, text: str) -> list[int]:
        """Return the tokens of words that follow others: with a space before them."""
        return self._tokenizer(f" {text}", add_special_tokens=False)["input_ids"]

    def prompt(self, text: str) -> list[int]:
        """Return the tokens of a prompt, with the tokens that begin a sequence and without the one that ends it."""
        tokens = self._tokenizer(text)["input_ids"]
        return tokens[:-1] if tokens[-1] == self._tokenizer.eos_token_id else tokens

    def roles(self, sentence: Sentence) -> tuple[str, ...]:
        """Return the role of each token of the prompt.

        The last token of a word has the role of the word; for earlier tokens, the distance from it is added, such as
        "name 1 -1".
        """
        prompt = sentence.prompt
        offsets = self._tokenizer(prompt, return_offsets_mapping=True)["offset_mapping"][: len(self.prompt(prompt))]
        # A token's last character is in its word; the space before a word belongs to the token after it.
        words = [prompt[: end - 1].count(" ") if end > start else None for start, end in offsets]
        roles = []
        for k, word in enumerate(words):
            distance = words[k + 1 :].count(word)
            role = f"begin {k + 1}" if word is None else sentence.roles[word]
            roles.append(f"{role} -{distance}" if distance and word is not None else role)
        return tuple(roles)


def encode_examples(sentences: Sequence[Sentence], encode: Encoder) -> Examples:
    """Encode sentences with their answers, for training.

    Args:
        sentences: The sentences.
        encode: Encodes texts and prompts as token ids.
    """
    prompts = [encode.prompt(sentence.prompt) for sentence in sentences]
    answers = [encode(sentence.answer) for sentence in sentences]
    sequences = [prompt + answer for prompt, answer in zip(prompts, answers, strict=True)]
    prompt_lengths, lengths = (torch.tensor([len(row) for row in rows]) for rows in (prompts, sequences))
    return Examples(_pad(sequences), prompt_lengths, lengths)


def encode_queries(questions: Questions, encode: Encoder) -> Queries:
    """Encode questions.

    Args:
        questions: The questions and their options.
        encode: Encodes texts and prompts as token ids.

    Raises:
        InputError: As in :func:`first_tokens`.
    """
    prompts = [encode.prompt(sentence.prompt) for sentence in questions.sentences]
    answer = [questions.options.index(sentence.answer) for sentence in questions.sentences]
    last = torch.tensor([len(prompt) - 1 for prompt in prompts])
    options = torch.tensor(first_tokens(questions.options, encode))
    return Queries(_pad(prompts), last, options, torch.tensor(answer))


def first_tokens(options: Sequence[str], encode: Encoder) -> list[int]:
    """Return the first token of every option, which identifies an answer.

    Args:
        options: Possible answers.
        encode: Encodes a text as token ids.

    Raises:
        InputError: If there are fewer than two options, or if two options begin with the same token.
    """
    if len(options) < 2:
        raise InputError(f"options = {list(options)}: an answer is ranked among at least two; add options")
    option_by_token: dict[int, str] = {}
    for option in options:
        token = encode(option)[0]
        if token in option_by_token:
            raise InputError(
                f"options {option_by_token[token]!r} and {option!r} begin with the same token ({token}), so that an "
                "answer does not identify its option; replace one in world.yaml, or use another tokenizer"
            )
        option_by_token[token] = option
    return list(option_by_token)


def align(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """Align two prompts.

    Tokens of the shared beginning and of the shared end are partners. Between them tokens are paired from the end,
    because the representation of a name is complete at its last token.

    Args:
        a: Token ids of the first prompt.
        b: Token ids of the second prompt.

    Returns:
        For every token of `a` the position of its partner in `b`; -1 if it has none.
    """
    shortest = min(len(a), len(b))
    begin = next((k for k in range(shortest) if a[k] != b[k]), shortest)
    partners = list(range(begin)) + [-1] * (len(a) - begin)
    for distance in range(1, shortest - begin + 1):
        partners[len(a) - distance] = len(b) - distance
    return partners


def _pad(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


def _texts(world: World) -> Iterator[str]:
    """Yield all texts that sentences about a world consist of, without slots."""
    templates = [world.home, world.located, world.office.stated, world.office.implied]
    templates += [world.made_up.fact, world.made_up.implication]
    templates += [text for relation in world.relations.values() for text in (relation.stated, relation.implied)]
    yield from (text for template in templates for text, *_ in Formatter().parse(template))
    yield from (world.office.taught, *world.office.others, *world.given, *world.family)
    yield from (value for city in world.cities for value in city.values())
