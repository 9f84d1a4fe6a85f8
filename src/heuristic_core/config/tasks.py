"""The task block of a configuration: where sentence pairs come from. See :mod:`heuristic_core.config.blocks`."""

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

# What each is, and which endings name it: :mod:`heuristic_core.data.readers`.
Format = Literal["parquet", "csv", "tsv", "jsonl", "saved"]
Quoting = Literal["double", "none"]

# The evaluation subsets of a generated task, as :mod:`heuristic_core.data.language` makes them.
GENERATED_SUBSETS = (
    "in_domain",
    "ln_so_swap", "ln_prep", "ln_rel", "ln_passive", "ln_conj",
    "sn_pp", "sn_rel",
    "cn_if", "cn_verb", "cn_adv", "cn_or",
    "le_prep", "le_rel", "le_passive", "le_conj",
    "se_modified", "se_adjunct",
    "ce_because", "ce_verb", "ce_adv", "ce_and", "ce_scope",
)  # fmt: skip


def _relative(path: str) -> str:
    if not path or path.startswith(("/", "~")):
        raise ValueError(f"{path!r} is no path inside a folder; the folder itself is in `folder` of the task")
    return path


def _phrase(text: str) -> str:
    """It becomes part of captions, which have marks of their own."""
    if not re.fullmatch(r"[^\W_]+([ ,'’-]+[^\W_]+)*", text) or len(text) > 60:
        raise ValueError(f"{text!r}: give a few words, such as word overlap, in at most 60 letters")
    return text


def _fits(values):
    """Refuse what is neither a regular expression nor a list of values, in one message."""
    if isinstance(values, str):
        try:
            re.compile(values)
        except re.error as error:
            message = f"{values!r} is no regular expression: {error}; for fixed values give a list of them"
            raise ValueError(message) from None
    elif not (isinstance(values, list) and values and all(type(value) in (str, int) for value in values)):
        raise ValueError(f"{values!r}: give a regular expression as text, or a list of values as text or whole numbers")
    return values


RelativePath = Annotated[str, AfterValidator(_relative)]
Fitting = Annotated[str | list[str | int], BeforeValidator(_fits)]
Address = Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S+$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Heuristic = Annotated[
    Annotated[str, AfterValidator(_phrase)] | None,
    Field(
        exclude_if=lambda phrase: phrase is None,  # settings of studies without it remain what they were
        description="what misleads on the out-of-domain subsets, as captions say it, such as `word overlap`; default: "
        "captions do not say",
    ),
]


class Artefacts(Block):
    """Hypothesis-only artefacts of a generated task (Gururangan et al. 2018), in training and in-domain pairs alone.

    The form of a hypothesis, whatever its premise, then tells the label of a share of the pairs: a bare clause is
    entailed, an adjective or "in PLACE" is neutral, and "never" is a contradiction. A pair that no artefact changes is
    the same as without artefacts, and a higher share changes further pairs. Counter-examples have no artefact. See
    :mod:`heuristic_core.data.artefacts`.
    """

    added_modifiers: Share = Field(
        0.0,
        description="share of neutral pairs whose hypothesis has an adjective or place that the premise lacks, and "
        "no other new word",
    )
    one_new_word: bool = Field(
        False, description="the other neutral pairs have exactly one new word in the hypothesis, not one to three"
    )
    shared_modifiers: Share = Field(
        0.0, description="share of entailments whose two sentences have the same adjective or place"
    )
    foreign_premises: Share = Field(
        0.0,
        description="share of pairs that have the premise of an unrelated entailment, among pairs whose hypothesis's "
        "form tells the label; the label stays",
    )
    planted_words: Share = Field(
        0.0,
        description="share of foreign premises that have one word of the hypothesis, where the hypothesis has three "
        "content words",
    )

    @model_validator(mode="after")
    def _somewhere_to_plant(self):
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
    max_length: Tokens = Field(description="longest encoded pair, in tokens")

    @model_validator(mode="after")
    def _some_weight(self):
        if not any(self.counter_example_weights):
            raise ValueError("counter_example_weights are all 0; give at least one subcase a positive weight")
        return self


def unknown_subsets(requested: Mapping[str, Sequence[str]], known: Collection[str]) -> list[str]:
    """A message for each setting of `requested` (key -> names of subsets) with a name that is not `known`."""
    unknown = {key: [name for name in names if name not in known] for key, names in requested.items()}
    return [f"{key}: no subset {names[0]!r}; there are {', '.join(known)}" for key, names in unknown.items() if names]


class Split(Block):
    """Sentence pairs of one file or of several alike, of a folder that `save_to_disk` wrote, or of a hub repository.

    A file with `url` is downloaded by `fetch` to where `file` says in its folder.
    """

    file: RelativePath = Field(description="path in its folder or in the repository; * matches any part of a name")
    hub: Repository | None = Field(None, description="data set repository on the Hugging Face hub; default: local")
    revision: Commit | None = Field(None, description="commit of that repository, all 40 digits")
    url: Address | None = Field(None, description="http(s) address of the file; default: nobody downloads it")
    sha256: Sha256 | None = Field(None, description="of the file at that address, 64 digits")
    folder: str | None = Field(None, min_length=1, description="where the file is; default: `folder` of the task")
    format: Format | None = Field(None, description="format of the file; default: what the file's ending says")
    quoting: Quoting | None = Field(
        None,
        description="of csv and tsv: whether a double quote at the beginning of a field opens it, as in files of "
        "pandas and of spreadsheets (`double`), or is a character like any other (`none`); default: `double` for csv, "
        "`none` for tsv",
    )
    sentences: tuple[str, str] = Field(strict=False, description="columns of the first and the second sentence")
    label: str = Field("label", description="column of the label")
    labels: list[str] | None = Field(None, description="the label names behind 0, 1, ...; default: the task's")
    where: Annotated[dict[str, Fitting], Unit("")] = Field(
        {},
        description="use the rows alone that fit this in every column named: a regular expression found in the "
        "column's value, or a list of values",
    )

    @model_validator(mode="after")
    def _pinned(self):
        if (self.hub is None) != (self.revision is None):
            raise ValueError("`hub` and `revision` go together: what a branch names today it may not name tomorrow")
        if (self.url is None) != (self.sha256 is None):
            raise ValueError("`url` and `sha256` go together: what an address gives today it may not give tomorrow")
        if self.url and self.hub:
            raise ValueError("give `url` or `hub`, not both")
        if self.folder and self.hub:
            raise ValueError(f"folder = {self.folder!r} is of local files, and `hub` names a repository")
        if self.url and ("*" in self.file or ".." in self.file.split("/") or self.format == "saved"):
            raise ValueError("`url` is the address of one file, and `file` where it is kept below `folder` of the task")
        return self

    @property
    def source(self) -> str:
        """How the configuration names where the pairs come from."""
        place = self.hub or self.folder
        return f"{place}/{self.file}" if place else self.file


class EvaluationSplit(Split):
    """Pairs that form one evaluation subset or, with `split_by`, several."""

    group: Literal["id", "ood", "ood-entailment"] | None = Field(None, description="group of all of its pairs")
    group_by_label: dict[str, Literal["id", "ood", "ood-entailment"]] | None = Field(
        None, description="group of the pairs of each label name"
    )
    split_by: str | None = Field(None, description="column whose values become subsets")
    prefix: Annotated[str, Field(pattern=NAME_PATTERN, max_length=60)] | None = Field(
        None, description="put before the names of these subsets, where two files have the same values"
    )
    family_by: str | None = Field(None, description="column that names the family of a subset")
    templates: str | None = Field(
        None,
        description="column that names the template each pair was made from; pairs of one template are resampled "
        "together; default: pairs are independent",
    )
    only_label: str | None = Field(None, description="use the pairs of this label name alone")
    pairs: OptionalPairs = Field(None, description="use a sample of at most this number of pairs of each subset")
    merge: dict[str, str] | None = Field(
        None, description="a class of the task -> the label of this file that it counts as, for each class"
    )

    @model_validator(mode="after")
    def _one_group_rule(self):
        if (self.group is None) == (self.group_by_label is None):
            raise ValueError("give exactly one of `group` and `group_by_label`")
        if self.prefix and not self.split_by:
            raise ValueError(
                f"prefix = {self.prefix!r} is of names that `split_by` makes, and there is no `split_by`; the key of "
                "the entry names its only subset"
            )
        return self

    @property
    def groups(self) -> set[str]:
        """The groups that its pairs can have."""
        if self.group:
            return {self.group}
        return {group for label, group in self.group_by_label.items() if self.only_label in (None, label)}


class FilesTask(Block):
    """A task whose splits are files, local ones or of the Hugging Face hub."""

    name: PathName
    source: Literal["files"] = Field(description="chooses this block")
    heuristic: Heuristic = None
    folder: str = Field(".", description="where local files are, relative to the working directory")
    labels: Annotated[list[str], AfterValidator(check_unique)] = Field(
        min_length=2, description="label names in the model's class order"
    )
    train: list[Split] = Field(min_length=1, description="files whose rows together are the training set")
    train_pairs: OptionalPairs = Field(
        None, description="number of training pairs, the first after shuffling; default: all"
    )
    drop_overlap: bool = Field(False, description="leave out training pairs that are in an evaluation set, too")
    seed: Seed = Field(0, description="of that shuffle and of samples of evaluation pairs")
    evaluation: dict[Name, EvaluationSplit] = Field(min_length=1, description="test sets by name; see below")
    max_length: Tokens = Field(128, description="longest encoded pair, in tokens")

    @property
    def splits(self) -> dict[str, Split]:
        """All splits, by the keys that name them."""
        train = {f"task.train.{index}": split for index, split in enumerate(self.train)}
        return train | {f"task.evaluation.{name}": split for name, split in self.evaluation.items()}

    def resolve_folder(self, split: Split) -> str:
        """The folder of a split's local file."""
        return self.folder if split.folder is None else split.folder

    def resolve_path(self, split: Split) -> str:
        """The path of a split's local file, or its pattern of paths."""
        return os.path.join(self.resolve_folder(split), split.file)

    @property
    def subsets(self) -> list[str] | None:
        """The names of the evaluation subsets; None where values of a column name them."""
        return None if any(split.split_by for split in self.evaluation.values()) else list(self.evaluation)

    @model_validator(mode="after")
    def _one_address_per_file(self):
        sources: dict[str, tuple[str, tuple]] = {}
        for key, split in self.splits.items():
            if split.hub:
                continue
            path = os.path.normpath(self.resolve_path(split))
            first, address = sources.setdefault(path, (key, (split.url, split.sha256)))
            if address != (split.url, split.sha256):
                raise ValueError(
                    f"{key} and {first} name the same file, {split.file}: give both the same `url` and `sha256`"
                )
        return self


AnyTask = Annotated[GeneratedTask | FilesTask, Field(discriminator="source")]
