"""From words to tokens: encoded sentences, the tokens by which options are told apart, and prompts side by side."""

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


class Encode(Protocol):
    """Words to tokens."""

    def __call__(self, text: str) -> list[int]:
        """Tokens of an answer, which follows a prompt."""

    def prompt(self, text: str) -> list[int]:
        """Tokens of a prompt."""

    def roles(self, one: Sentence) -> tuple[str, ...]:
        """What each token of the prompt is, a name of its own within the prompt."""


class Examples(NamedTuple):
    """Sentences with their answers, shorter ones followed by zeros that no model's earlier token sees.

    tokens: int64 [n, T]. prompt, length: tokens of the prompt, and of prompt and answer together, int64 [n].
    """

    tokens: Tensor
    prompt: Tensor
    length: Tensor

    def of(self, index: Tensor) -> "Examples":
        """The sentences at `index`, int64 [k], without columns that none of them needs."""
        length = self.length[index]
        return Examples(self.tokens[index, : int(length.max())], self.prompt[index], length)


class Asked(NamedTuple):
    """Questions without their answers.

    tokens: int64 [n, T], shorter prompts followed by zeros. last: position of the last token, int64 [n]. options: the
    first token of every option, int64 [k]. answer: which of the options is right, int64 [n].
    """

    tokens: Tensor
    last: Tensor
    options: Tensor
    answer: Tensor

    def of(self, index: Tensor) -> "Asked":
        """The questions at `index`, int64 [k]."""
        return Asked(self.tokens[index], self.last[index], self.options, self.answer[index])


class Vocabulary:
    """The words of a world, each a token; the embedded model's tokenizer."""

    def __init__(self, world: World):
        self.words = sorted({word for text in _texts(world) for word in text.split()})
        self._tokens = {word: token for token, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def __call__(self, text: str) -> list[int]:
        """Tokens of words. Raises InputError on a word that the world has not."""
        if unknown := [word for word in text.split() if word not in self._tokens]:
            raise InputError(f"{unknown[0]!r} of {text!r} is no word of world.yaml; add it there, or use another")
        return [self._tokens[word] for word in text.split()]

    def prompt(self, text: str) -> list[int]:
        return self(text)

    def roles(self, one: Sentence) -> tuple[str, ...]:
        return one.roles


class HubTokenizer:
    """The tokenizer of a model that is not made here. folder: its files."""

    def __init__(self, folder: str | Path):
        self._of = load_tokenizer(folder)
        if not self._of.is_fast:
            raise InputError(
                f"{folder}: its tokenizer has no tokenizer.json, which says where words end; add that file"
            )

    def __call__(self, text: str) -> list[int]:
        """Tokens of words after others: with a space before them."""
        return self._of(f" {text}", add_special_tokens=False)["input_ids"]

    def prompt(self, text: str) -> list[int]:
        """With the tokens that the model's sentences begin with, without those that end them."""
        found = self._of(text)["input_ids"]
        return found[:-1] if found[-1] == self._of.eos_token_id else found

    def roles(self, one: Sentence) -> tuple[str, ...]:
        """A word's last token has the role of the word, tokens before it have their number from the end besides."""
        inside = self._of(one.prompt, return_offsets_mapping=True)["offset_mapping"][: len(self.prompt(one.prompt))]
        # A token's last character is in its word; the space before a word belongs to the token after it.
        words = [one.prompt[: end - 1].count(" ") if end > start else None for start, end in inside]
        found = []
        for k, word in enumerate(words):
            back = words[k + 1 :].count(word)
            role = f"begin {k + 1}" if word is None else one.roles[word]
            found.append(f"{role} -{back}" if back and word is not None else role)
        return tuple(found)


def examples(sentences: Sequence[Sentence], encode: Encode) -> Examples:
    """What a model learns from."""
    prompts, answers = [encode.prompt(one.prompt) for one in sentences], [encode(one.answer) for one in sentences]
    whole = [p + a for p, a in zip(prompts, answers, strict=True)]
    return Examples(_padded(whole), *(torch.tensor([len(one) for one in part]) for part in (prompts, whole)))


def asked(questions: Questions, encode: Encode) -> Asked:
    """What a model is asked. Raises InputError as :func:`first_tokens` does."""
    prompts = [encode.prompt(one.prompt) for one in questions.sentences]
    answer = [questions.options.index(one.answer) for one in questions.sentences]
    last = torch.tensor([len(one) - 1 for one in prompts])
    options = torch.tensor(first_tokens(questions.options, encode))
    return Asked(_padded(prompts), last, options, torch.tensor(answer))


def first_tokens(options: Sequence[str], encode: Encode) -> list[int]:
    """The first token of every option, by which answers are told apart.

    Raises InputError where there are fewer than two options, and where two begin with one token.
    """
    if len(options) < 2:
        raise InputError(f"options = {list(options)}: an answer is ranked among at least two; add options")
    found: dict[int, str] = {}
    for option in options:
        token = encode(option)[0]
        if token in found:
            raise InputError(
                f"options {found[token]!r} and {option!r} begin with one token ({token}), so that an answer does not "
                "tell which of them is meant; replace one in world.yaml, or use another tokenizer"
            )
        found[token] = option
    return list(found)


def aligned(a: Sequence[int], b: Sequence[int]) -> list[int]:
    """For every token of `a` the position of its partner in `b`, -1 where it has none.

    A shared beginning and a shared end are partners. What is between differs; there the last tokens are partners, then
    the tokens before them: the last token of a name is where its meaning comes together.
    """
    shortest = min(len(a), len(b))
    begin = next((k for k in range(shortest) if a[k] != b[k]), shortest)
    found = list(range(begin)) + [-1] * (len(a) - begin)
    for back in range(1, shortest - begin + 1):
        found[len(a) - back] = len(b) - back
    return found


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


def _texts(world: World) -> Iterator[str]:
    """All that can be said of a world, slots left out."""
    templates = [world.home, world.located, world.office.stated, world.office.implied]
    templates += [world.made_up.fact, world.made_up.implication]
    templates += [text for relation in world.relations.values() for text in (relation.stated, relation.implied)]
    yield from (text for template in templates for text, *_ in Formatter().parse(template))
    yield from (world.office.taught, *world.office.others, *world.given, *world.family)
    yield from (value for city in world.cities for value in city.values())
