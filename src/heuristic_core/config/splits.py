"""Files of examples of a task. See :mod:`heuristic_core.config.blocks`."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from heuristic_core.config.blocks import (
    NAME_PATTERN,
    Block,
    Commit,
    OptionalPairs,
    Repository,
    Unit,
    check_unique,
)

# Formats and their file name endings: :mod:`heuristic_core.data.readers`.
Format = Literal["parquet", "csv", "tsv", "jsonl", "saved"]
Quoting = Literal["double", "none"]


def _check_relative(path: str) -> str:
    """Return a path inside a folder."""
    if not path or path.startswith(("/", "~")):
        raise ValueError(f"{path!r} must be a path relative to `folder` of the task")
    return path


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


class Split(Block):
    """What training and evaluation examples have in common."""

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
    every_label: str | None = Field(
        None,
        exclude_if=lambda label: label is None,
        description="label of all rows, where no column has it, as of minimal pairs in two columns; default: the "
        "column `label`",
    )
    where: Annotated[dict[str, Condition], Unit("")] = Field(
        {},
        description="conditions on rows, all of which must be met: column -> a regular expression that is searched in "
        "the value, or a list of values",
    )

    @model_validator(mode="after")
    def _check_source(self):
        if (self.hub is None) != (self.revision is None):
            raise ValueError("`hub` needs `revision`, the full hash of a commit, and `revision` needs `hub`")
        if self.every_label is not None and self.label != "label":
            raise ValueError(f"every_label = {self.every_label!r} and label = {self.label!r}; remove one")
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


class TrainingSplit(Split):
    """Training examples of one or more files, of a folder in the format of `save_to_disk`, or of a hub repository.

    `fetch` downloads a file with `url` to the path `file` in its folder.
    """

    pairs: OptionalPairs = Field(
        None,
        exclude_if=lambda pairs: pairs is None,  # so that settings of tasks without it do not change
        description="number of these pairs to use, drawn at random before `drop_overlap`; default: all",
    )


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
        if self.only_label and self.every_label not in (None, self.only_label):
            raise ValueError(f"only_label = {self.only_label!r}, but every_label = {self.every_label!r}; remove one")
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
