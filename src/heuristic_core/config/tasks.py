"""Block `task` of a configuration: where examples come from. See :mod:`heuristic_core.config.blocks`."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from heuristic_core.config.blocks import (
    Block,
    Name,
    NonNegative,
    OptionalPairs,
    Pairs,
    PathName,
    Seed,
    Share,
    Tokens,
    Unit,
    check_unique,
)
from heuristic_core.config.splits import EvaluationSplit, Split
from heuristic_core.config.subset_names import COUNTER_EXAMPLE_NAMES, GENERATED_NAMES

CLASS_NAMES = {
    "overlap": ["entailment", "neutral", "contradiction"],
    "agreement": ["wrong", "right"],
    "roles": ["agent", "patient"],
    "parity": ["even", "odd"],
}
Language = Literal["overlap", "agreement", "roles", "parity"]
TARGET_LANGUAGES = ("roles",)  # in which a word of each sentence is classified


def _check_phrase(text: str) -> str:
    """Return a phrase for captions, which must have no markup."""
    if not re.fullmatch(r"[^\W_]+([ ,'’-]+[^\W_]+)*", text) or len(text) > 60:
        raise ValueError(f"{text!r} must be a short phrase of at most 60 letters, such as word overlap")
    return text


Heuristic = Annotated[
    Annotated[str, AfterValidator(_check_phrase)] | None,
    Field(
        exclude_if=lambda phrase: phrase is None,  # so that study.json of studies without it does not change
        description="name of the heuristic that fails on the out-of-domain subsets, for captions, such as "
        "`word overlap`; default: not mentioned",
    ),
]


class Artefacts(Block):
    """Hypothesis-only artefacts of a generated task (Gururangan et al. 2018), only in training and in-domain pairs.

    For a share of the pairs, the form of the hypothesis then predicts the label, whatever the premise: a bare clause is
    entailed, an adjective or "in PLACE" is neutral, and "never" is a contradiction. Other pairs are the same as
    without artefacts, and a higher share changes further pairs. Counter-examples have no artefact. See
    :mod:`heuristic_core.data.languages.overlap.artefacts`.
    """

    added_modifiers: Share = Field(
        0.0,
        description="share of neutral pairs whose hypothesis has an adjective or place that the premise lacks, and "
        "no other new word",
    )
    one_new_word: bool = Field(
        False, description="whether hypotheses of other neutral pairs have exactly one new word instead of one to three"
    )
    shared_modifiers: Share = Field(
        0.0, description="share of entailments whose two sentences have the same adjective or place"
    )
    foreign_premises: Share = Field(
        0.0,
        description="share of pairs with the premise of an unrelated entailment and an unchanged label, among pairs "
        "whose hypothesis predicts the label by its form",
    )
    planted_words: Share = Field(
        0.0,
        description="share of foreign premises with one word of the hypothesis, among hypotheses of three content "
        "words",
    )

    @model_validator(mode="after")
    def _check_planted_words(self):
        if self.planted_words and not self.foreign_premises:
            raise ValueError(
                f"planted_words = {self.planted_words} has no effect without foreign premises; set foreign_premises "
                "above 0, or planted_words = 0"
            )
        return self


class Text(Block):
    """What unlabelled text of a generated language depends on."""

    language: Language = "overlap"
    counter_examples: Share = 0.0
    counter_example_weights: list[NonNegative] = Field([])


class GeneratedTask(Block):
    """A generated language; see :mod:`heuristic_core.data.languages`."""

    name: PathName
    source: Literal["generated"] = Field(description="chooses this block")
    language: Language = Field(
        "overlap",
        exclude_if=lambda language: language == "overlap",  # so that settings of tasks without it do not change
        description="`overlap`: does the first sentence entail the second? `agreement`: is the verb right for its "
        "subject? `roles`: is the marked noun the one who acts? `parity`: is the number "
        "of ones at hidden positions even?",
    )
    heuristic: Heuristic = None
    seed: Seed = Field(description="of the drawn examples")
    train_pairs: Pairs = Field(description="training examples to draw")
    counter_examples: Share = Field(description="share of training examples on which the heuristic is wrong")
    counter_example_weights: Annotated[list[NonNegative], Unit("")] = Field(
        description="how often each subcase occurs among the counter-examples; 11 subcases of `overlap`, 5 of "
        "`agreement` and `roles`, 1 of `parity`",
    )
    artefacts: Artefacts = Field(Artefacts(), description="of `overlap`; default: none")
    random_labels: bool = Field(
        False,
        exclude_if=lambda random_labels: not random_labels,  # so that settings of tasks without it do not change
        description="whether training labels are drawn at random, a control in which there is nothing to learn",
    )
    id_pairs: Pairs = Field(description="in-domain evaluation examples")
    pairs_per_subcase: Pairs = Field(description="evaluation examples of each subcase")
    max_length: Tokens = Field(description="maximum length of an encoded example, in tokens")

    @property
    def sentence_count(self) -> int:
        """Number of sentences of an example."""
        return 2 if self.language == "overlap" else 1

    @property
    def has_target(self) -> bool:
        """Whether a word of each sentence is classified."""
        return self.language in TARGET_LANGUAGES

    @property
    def text(self) -> Text:
        """What the unlabelled text for pre-training depends on; pairs are of all rules alike."""
        if self.language == "overlap":
            return Text()
        return Text(
            language=self.language,
            counter_examples=self.counter_examples,
            counter_example_weights=self.counter_example_weights,
        )

    @property
    def labels(self) -> list[str]:
        """Names of the classes."""
        return CLASS_NAMES[self.language]

    @property
    def subsets(self) -> list[str]:
        """Names of the evaluation subsets."""
        return list(GENERATED_NAMES[self.language])

    @field_validator("counter_example_weights")
    @classmethod
    def _check_weights(cls, weights: list[float], fields: ValidationInfo):
        names = COUNTER_EXAMPLE_NAMES[fields.data.get("language", "overlap")]
        if len(weights) != len(names):
            raise ValueError(f"has {len(weights)} numbers; give {len(names)}, one for each of {', '.join(names)}")
        if not any(weights):
            raise ValueError("are all 0; set at least one of them above 0")
        return weights

    @model_validator(mode="after")
    def _check_artefacts(self):
        if self.language != "overlap" and self.artefacts != Artefacts():
            raise ValueError(f"artefacts are of the language 'overlap'; remove them, or language: {self.language}")
        return self


def describe_unknown_subsets(requested: Mapping[str, Sequence[str]], known: Collection[str]) -> list[str]:
    """Return a message for each setting that names an unknown subset.

    Args:
        requested: Setting -> names of subsets.
        known: Names of the subsets that exist.
    """
    unknown = {key: [name for name in names if name not in known] for key, names in requested.items()}
    return [
        f"{key}: unknown subset {names[0]!r}; choose from {', '.join(known)}" for key, names in unknown.items() if names
    ]


class FilesTask(Block):
    """A task from files, local or of the Hugging Face hub."""

    name: PathName
    source: Literal["files"] = Field(description="chooses this block")
    heuristic: Heuristic = None
    folder: str = Field(".", description="folder of local files, relative to the working directory")
    labels: Annotated[list[str], AfterValidator(check_unique)] = Field(
        min_length=2, description="label names in the model's class order"
    )
    train: list[Split] = Field(min_length=1, description="files of the training set")
    train_pairs: OptionalPairs = Field(None, description="number of training pairs after shuffling; default: all")
    drop_overlap: bool = Field(False, description="remove training pairs that are also in an evaluation set")
    seed: Seed = Field(0, description="seed of the shuffle and of samples of evaluation pairs")
    evaluation: dict[Name, EvaluationSplit] = Field(min_length=1, description="test sets by name; see below")
    max_length: Tokens = Field(128, description="maximum length of an encoded pair, in tokens")

    @property
    def splits(self) -> dict[str, Split]:
        """All splits by key."""
        train = {f"task.train.{index}": split for index, split in enumerate(self.train)}
        return train | {f"task.evaluation.{name}": split for name, split in self.evaluation.items()}

    def resolve_folder(self, split: Split) -> str:
        """Return the folder of a split's local file."""
        return self.folder if split.folder is None else split.folder

    def resolve_path(self, split: Split) -> str:
        """Return the path of a split's local file, or its path pattern."""
        return os.path.join(self.resolve_folder(split), split.file)

    @property
    def sentence_count(self) -> int:
        """Number of sentences of an example, 1 or 2."""
        return len(self.train[0].sentences)

    @property
    def has_target(self) -> bool:
        """Whether a word of each sentence is classified."""
        return self.train[0].target is not None

    @property
    def subsets(self) -> list[str] | None:
        """Names of the evaluation subsets; None if they are values of a column."""
        return None if any(split.split_by for split in self.evaluation.values()) else list(self.evaluation)

    @model_validator(mode="after")
    def _check_sentences(self):
        for key, split in self.splits.items():
            if (split.target is not None) != self.has_target:
                with_target, without = (key, "task.train.0") if split.target else ("task.train.0", key)
                raise ValueError(
                    f"{without} has no target, but {with_target} has one; set `target` for all files or for none"
                )
            if split.target and len(split.sentences) == 2:
                raise ValueError(
                    f"{key}: target = {split.target!r} is in one sentence, but sentences = {split.sentences}; name one "
                    "column"
                )
            if len(split.sentences) != self.sentence_count:
                raise ValueError(
                    f"{key}: sentences = {split.sentences}, but task.train.0 has sentences = "
                    f"{self.train[0].sentences}; name two columns in all files, or one for single sentences"
                )
        return self

    @model_validator(mode="after")
    def _check_every_label(self):
        for key, split in self.splits.items():
            names = split.labels or self.labels
            if split.every_label is not None and split.every_label not in names:
                raise ValueError(f"{key}: every_label = {split.every_label!r} is none of {', '.join(names)}")
        return self

    @model_validator(mode="after")
    def _check_addresses(self):
        sources: dict[str, tuple[str, tuple]] = {}
        for key, split in self.splits.items():
            if split.hub:
                continue
            path = os.path.normpath(self.resolve_path(split))
            first, address = sources.setdefault(path, (key, (split.url, split.sha256)))
            if address != (split.url, split.sha256):
                raise ValueError(
                    f"{key} and {first} have the same file, {split.file}; set the same `url` and `sha256` for both"
                )
        return self


AnyTask = Annotated[GeneratedTask | FilesTask, Field(discriminator="source")]
