"""The task block of a configuration: where sentence pairs come from. See :mod:`heuristic_core.config.blocks`."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt, model_validator

from heuristic_core.config.blocks import Block, Commit, Name, NonNegative, Repository, Seed, Share, unique

# Endings: .parquet, .csv, .tsv and .txt (tabs, nothing quoted: as GLUE, HANS, PAWS write), .jsonl; a folder has none.
Format = Literal["parquet", "csv", "tsv", "jsonl", "saved"]


class GeneratedTask(Block):
    """The miniature's language; see :mod:`heuristic_core.tasks.language`."""

    name: Name
    source: Literal["generated"]
    seed: Seed
    train_pairs: PositiveInt
    counter_examples: Share = Field(description="share of training pairs on which the overlap heuristic is wrong")
    counter_example_weights: list[NonNegative] = Field(
        min_length=11,
        max_length=11,
        description="how often each of the 11 subcases occurs among the counter-examples",
    )
    id_pairs: PositiveInt = Field(description="in-domain evaluation pairs")
    pairs_per_subcase: PositiveInt = Field(description="evaluation pairs of each subcase")
    max_length: PositiveInt = Field(description="longest encoded pair, in tokens")

    @model_validator(mode="after")
    def _some_weight(self):
        if not any(self.counter_example_weights):
            raise ValueError("counter_example_weights are all 0; give at least one subcase a positive weight")
        return self


class Split(Block):
    """Sentence pairs of one file or of several alike, of a folder that `save_to_disk` wrote, or of a hub repository."""

    file: str = Field(description="path in the task's folder or in the repository; * stands for any part of a name")
    hub: Repository | None = Field(None, description="data set repository on the Hugging Face hub; default: local")
    revision: Commit | None = Field(None, description="commit of that repository, all 40 digits")
    format: Format | None = Field(None, description="default: what the file's ending says")
    sentences: tuple[str, str] = Field(strict=False, description="columns of the first and the second sentence")
    label: str = Field("label", description="column of the label")
    labels: list[str] | None = Field(
        None, description="the label names that stand behind 0, 1, ...; default: the task's"
    )

    @model_validator(mode="after")
    def _pinned(self):
        if (self.hub is None) != (self.revision is None):
            raise ValueError("`hub` and `revision` go together: what a branch names today it may not name tomorrow")
        return self


class EvaluationSplit(Split):
    """Pairs that form one evaluation subset or, with `split_by`, several."""

    group: Literal["id", "ood", "ood-entailment"] | None = Field(None, description="group of all of its pairs")
    group_by_label: dict[str, Literal["id", "ood", "ood-entailment"]] | None = Field(
        None,
        description="group of the pairs of each label name; where groups differ and no column splits the file, each "
        "label's pairs are a subset of their own, `<name>_<label>`",
    )
    split_by: str | None = Field(None, description="column whose values become subsets")
    family_by: str | None = Field(None, description="column that names the family of a subset")
    pairs: PositiveInt | None = Field(None, description="use a sample of at most so many pairs of each subset")
    merge: dict[str, str] | None = Field(
        None, description="a class of the task -> the label of this file that it counts as, for each class"
    )

    @model_validator(mode="after")
    def _one_group_rule(self):
        if (self.group is None) == (self.group_by_label is None):
            raise ValueError("give exactly one of `group` and `group_by_label`")
        return self


class FilesTask(Block):
    """A task whose splits are files, local ones or of the Hugging Face hub."""

    name: Name
    source: Literal["files"]
    folder: str = Field(".", description="where local files lie, relative to the working directory")
    labels: Annotated[list[str], AfterValidator(unique)] = Field(
        min_length=2, description="label names in the model's class order"
    )
    train: list[Split] = Field(min_length=1, description="files whose rows together are the training set")
    train_pairs: PositiveInt | None = Field(None, description="use the first so many training pairs after shuffling")
    seed: Seed = Field(0, description="of that shuffle and of samples of evaluation pairs")
    evaluation: dict[Name, EvaluationSplit] = Field(min_length=1)
    max_length: PositiveInt = Field(128, description="longest encoded pair, in tokens")


AnyTask = Annotated[GeneratedTask | FilesTask, Field(discriminator="source")]
