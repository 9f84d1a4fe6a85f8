"""Block `task` of a configuration: where examples come from. See :mod:`heuristic_core.config.blocks`."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from heuristic_core.config.blocks import (
    NAME_PATTERN,
    Block,
    Commit,
    Name,
    NonNegative,
    OptionalPairs,
    Pairs,
    PathName,
    Repository,
    Seed,
    Share,
    Tokens,
    Unit,
    check_unique,
)
from heuristic_core.config.subset_names import GENERATED_NAMES

# Formats and their file name endings: :mod:`heuristic_core.data.readers`.
Format = Literal["parquet", "csv", "tsv", "jsonl", "saved"]
Quoting = Literal["double", "none"]

GENERATED_SUBSETS = tuple(GENERATED_NAMES)


def _check_relative(path: str) -> str:
    """Return a path inside a folder."""
    if not path or path.startswith(("/", "~")):
        raise ValueError(f"{path!r} must be a path relative to `folder` of the task")
    return path


def _check_phrase(text: str) -> str:
    """Return a phrase for captions, which must have no markup."""
    if not re.fullmatch(r"[^\W_]+([ ,'’-]+[^\W_]+)*", text) or len(text) > 60:
        raise ValueError(f"{text!r} must be a short phrase of at most 60 letters, such as word overlap")
    return text


def _check_sentences(columns: list[str]) -> list[str]:
    """Return the columns of one or two sentences."""
    if not 1 <= len(columns) <= 2:
        raise ValueError(f"{columns} must name one or two columns, such as [premise, hypothesis] or [text]")
    return check_unique(columns)


def _check_condition(values):
    """Return a regular expression or a list of values, with one error message for both types."""
    if isinstance(values, str):
        try:
            re.compile(values)
        except re.error as error:
            message = f"{values!r} is not a regular expression: {error}; to select fixed values, use a list"
            raise ValueError(message) from None
    elif not (isinstance(values, list) and values and all(type(value) in (str, int) for value in values)):
        raise ValueError(f"{values!r} must be a regular expression (text) or a list of values (text or integers)")
    return values


RelativePath = Annotated[str, AfterValidator(_check_relative)]
Condition = Annotated[str | list[str | int], BeforeValidator(_check_condition)]
Address = Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S+$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
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
    :mod:`heuristic_core.data.artefacts`.
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


class GeneratedTask(Block):
    """The miniature's language; see :mod:`heuristic_core.data.language`."""

    name: PathName
    source: Literal["generated"] = Field(description="chooses this block")
    heuristic: Heuristic = None
    seed: Seed = Field(description="of the drawn pairs")
    train_pairs: Pairs = Field(description="training pairs to draw")
    counter_examples: Share = Field(description="share of training pairs on which the overlap heuristic is wrong")
    counter_example_weights: Annotated[list[NonNegative], Unit("")] = Field(
        min_length=11,
        max_length=11,
        description="how often each of the 11 subcases occurs among the counter-examples",
    )
    artefacts: Artefacts = Field(Artefacts(), description="default: none")
    id_pairs: Pairs = Field(description="in-domain evaluation pairs")
    pairs_per_subcase: Pairs = Field(description="evaluation pairs of each subcase")
    max_length: Tokens = Field(description="maximum length of an encoded pair, in tokens")

    @property
    def sentence_count(self) -> int:
        """Number of sentences of an example."""
        return 2

    @property
    def has_target(self) -> bool:
        """Whether a word of each sentence is classified."""
        return False

    @model_validator(mode="after")
    def _check_weights(self):
        if not any(self.counter_example_weights):
            raise ValueError("counter_example_weights are all 0; set at least one of them above 0")
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


class Split(Block):
    """Examples of one or more files, of a folder in the format of `save_to_disk`, or of a hub repository.

    `fetch` downloads a file with `url` to the path `file` in its folder.
    """

    file: RelativePath = Field(description="path relative to its folder or repository; * matches any part of a name")
    hub: Repository | None = Field(None, description="data set repository on the Hugging Face hub; default: local")
    revision: Commit | None = Field(None, description="commit of the repository, 40 hex digits")
    url: Address | None = Field(None, description="http(s) address of the file; default: not downloaded")
    sha256: Sha256 | None = Field(None, description="SHA-256 of the file at this address, 64 hex digits")
    folder: str | None = Field(None, min_length=1, description="folder of the file; default: `folder` of the task")
    format: Format | None = Field(None, description="format of the file; default: by the file's ending")
    quoting: Quoting | None = Field(
        None,
        description="csv and tsv: whether double quotes enclose fields, as in files of pandas and spreadsheets "
        "(`double`), or are ordinary characters (`none`); default: `double` for csv, `none` for tsv",
    )
    sentences: Annotated[list[str], AfterValidator(_check_sentences)] = Field(
        strict=False,
        description="columns of the first and the second sentence; one column for a task of single sentences",
    )
    target: str | None = Field(
        None,
        min_length=1,
        exclude_if=lambda column: column is None,  # so that settings of tasks without it do not change
        description="column of the target, the word that is classified, in a task of single sentences: the word if it "
        "occurs once, its index among the words from 0, or the span `start:end` of its characters; default: the whole "
        "sentence is classified",
    )
    label: str = Field("label", description="column of the label")
    labels: list[str] | None = Field(None, description="names of the labels 0, 1, ...; default: labels of the task")
    where: Annotated[dict[str, Condition], Unit("")] = Field(
        {},
        description="conditions on rows, all of which must be met: column -> a regular expression that is searched in "
        "the value, or a list of values",
    )

    @model_validator(mode="after")
    def _check_source(self):
        if (self.hub is None) != (self.revision is None):
            raise ValueError("`hub` needs `revision`, the full hash of a commit, and `revision` needs `hub`")
        if (self.url is None) != (self.sha256 is None):
            raise ValueError("`url` needs `sha256`, the hash of the file, and `sha256` needs `url`")
        if self.url and self.hub:
            raise ValueError("`url` and `hub` exclude each other; remove one")
        if self.folder and self.hub:
            raise ValueError(f"folder = {self.folder!r} is for local files, but `hub` names a repository; remove one")
        if self.url and ("*" in self.file or ".." in self.file.split("/") or self.format == "saved"):
            raise ValueError("with `url`, `file` must be the path of one file below `folder` of the task")
        return self

    @property
    def source(self) -> str:
        """Name of the source in the configuration."""
        place = self.hub or self.folder
        return f"{place}/{self.file}" if place else self.file


class EvaluationSplit(Split):
    """Pairs that form one evaluation subset or, with `split_by`, several."""

    group: Literal["id", "ood", "ood-entailment"] | None = Field(None, description="group of all pairs")
    group_by_label: dict[str, Literal["id", "ood", "ood-entailment"]] | None = Field(
        None, description="group of the pairs with a label: label name -> group"
    )
    split_by: str | None = Field(None, description="column whose values become subsets")
    prefix: Annotated[str, Field(pattern=NAME_PATTERN, max_length=60)] | None = Field(
        None, description="prefix of the names of these subsets, if several files have the same values"
    )
    family_by: str | None = Field(None, description="column that names the family of a subset")
    templates: str | None = Field(
        None,
        description="column with the template of each pair; pairs of one template are resampled together; default: "
        "pairs are independent",
    )
    only_label: str | None = Field(None, description="use only pairs with this label")
    pairs: OptionalPairs = Field(None, description="maximum number of pairs of each subset, drawn at random")
    merge: dict[str, str] | None = Field(
        None, description="label of this file for each class of the task: class -> label"
    )

    @model_validator(mode="after")
    def _check_groups(self):
        if (self.group is None) == (self.group_by_label is None):
            raise ValueError("set exactly one of `group` and `group_by_label`")
        if self.prefix and not self.split_by:
            raise ValueError(
                f"prefix = {self.prefix!r} needs `split_by`; without it the entry is one subset, named by its key"
            )
        return self

    @property
    def groups(self) -> set[str]:
        """Groups of its pairs."""
        if self.group:
            return {self.group}
        return {group for label, group in self.group_by_label.items() if self.only_label in (None, label)}


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
