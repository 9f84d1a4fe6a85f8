"""Block `task` of a configuration: where examples come from. See :mod:`heuristic_core.config.blocks`."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from heuristic_core.config.blocks import (
    Block,
    Name,
    OptionalPairs,
    PathName,
    Seed,
    Tokens,
    check_unique,
)
from heuristic_core.config.generated import GeneratedTask, Heuristic
from heuristic_core.config.splits import EvaluationSplit, Split, TrainingSplit


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
    train: list[TrainingSplit] = Field(min_length=1, description="files of the training set")
    train_pairs: OptionalPairs = Field(None, description="number of training pairs after shuffling; default: all")
    drop_overlap: bool = Field(False, description="remove training pairs that are also in an evaluation set")
    seed: Seed = Field(0, description="seed of the shuffle and of samples of pairs")
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
        if len(labels := {split.every_label for split in self.train}) == 1 and None not in labels:
            raise ValueError(f"train: every_label = {labels.pop()!r} in all files; give examples of another label")
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


def parse_task(settings: Mapping) -> GeneratedTask | FilesTask:
    """Return the task of block `task` of checked settings, such as those of study.json."""
    return TypeAdapter(AnyTask).validate_python(settings)
