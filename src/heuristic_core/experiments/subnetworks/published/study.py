"""The published results of one task as a study: its subsets, and its context."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import yaml

from heuristic_core.common.errors import InputError
from heuristic_core.config.figure import Figure
from heuristic_core.config.subset_names import HANS_NAMES
from heuristic_core.experiments.subnetworks.config.analysis import Analysis, Counterpart, Figures
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.published.files import (
    CURVE_RUN,
    LAST_STEPS,
    PublishedValue,
    Results,
    TaskFiles,
    find_tasks,
    read_results,
)
from heuristic_core.experiments.subnetworks.published.paws import replace_by_duplicates
from heuristic_core.experiments.subnetworks.published.subsets import PublishedSubset, map_subsets


class PublishedStudy(NamedTuple):
    """The published results of one task as a study.

    Attributes:
        files: The task's files.
        results: The values in the files.
        subsets: The subsets of all files, by their names in the files.
        common_subsets: The subsets that all files have.
        analysis: Settings of the analysis. Effective sizes are computed as in the authors' script (sizes of the grid,
            `mixed` by subset). Group means are over the common subsets and the entailment class of their families,
            which only the files of the spread have.
        context: The study's context.
    """

    files: TaskFiles
    results: Results
    subsets: dict[str, PublishedSubset]
    common_subsets: list[str]
    analysis: Analysis
    context: Context

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.files.task

    @property
    def name(self) -> str:
        """The name of the study."""
        return f"published-{self.task}"

    @property
    def figures(self) -> Figures:
        """Settings of figures: figures over fine-tuning show the common subsets, table 3 the subsets in the paper."""
        figure_subsets = dict.fromkeys(("figure06", "figure10"), self.common_subsets)
        if printed := load_paper_results(self.task).get("ablations"):
            figure_subsets["table3"] = [
                subset.subset for subset in map_subsets(printed["subsets"], self.task, {}).values()
            ]
        return Figures(**{name: Figure(subsets=subsets) for name, subsets in figure_subsets.items()})


def read_studies(folder: str | Path, groups: Mapping[str, str]) -> list[PublishedStudy]:
    """Read the tasks whose files are in `folder`.

    Args:
        folder: The folder of the authors' result files.
        groups: Groups by name of a subset, for subsets whose name does not imply the group.

    Raises:
        InputError: If a file is invalid, or `groups` names a subset that no file has.
    """
    study_list = [_build_study(files, groups) for files in find_tasks(folder)]
    valid_names = {
        word for study in study_list for name, subset in study.subsets.items() for word in (name, subset.subset)
    }
    if unknown := [name for name in groups if name not in valid_names]:
        choices = ", ".join(sorted(valid_names))
        raise InputError(f"published_groups: no subset {unknown[0]!r} in {folder}; choose from {choices}")
    return study_list


@cache
def load_paper_results(task: str) -> dict:
    """Load the paper's printed results of a task (keys heads, core_heads, ablations); empty if there are none."""
    text = resources.files(__package__).joinpath("paper.yaml").read_text()
    return yaml.safe_load(text).get(task, {})


def _build_study(files: TaskFiles, groups: Mapping[str, str]) -> PublishedStudy:
    """Read the files of one task and choose the subsets of group means."""
    results = replace_by_duplicates(read_results(files))
    parts = {"sp": results.spread, "curve": results.curve, "training": results.training, "grid": results.grid}
    names = {part: list(dict.fromkeys(value.name for value in values)) for part, values in parts.items()}
    subsets = map_subsets(
        dict.fromkeys(name for names_in_part in names.values() for name in names_in_part), files.task, groups
    )
    for names_in_part in names.values():
        first: dict[str, str] = {}
        for name in names_in_part:
            if (other := first.setdefault(subsets[name].subset, name)) != name:
                raise InputError(f"{files.task}: {other!r} and {name!r} of one file are both {subsets[name].subset}")
    common = _common_subsets([[subsets[name] for name in names_in_part] for names_in_part in names.values()], files)
    families = {subset.family for subset in common if subset.group == "ood"}
    entailment = [
        subset for subset in subsets.values() if subset.group == "ood-entailment" and subset.family in families
    ]
    subsets_of_means = list(dict.fromkeys(subset.subset for subset in [*common, *entailment]))
    analysis = Analysis(subsets=subsets_of_means, effective_size="grid", size_order="per-seed", mixed="subsets")
    return PublishedStudy(
        files, results, subsets, [subset.subset for subset in common], analysis, _build_context(results, analysis)
    )


def _common_subsets(parts: list[list[PublishedSubset]], files: TaskFiles) -> list[PublishedSubset]:
    """Return the subsets that all files have, in the order of the first file."""
    common = [subset for subset in parts[0] if all(subset in part for part in parts)]
    if missing := {"id", "ood"} - {subset.group for subset in common}:
        described = "; ".join(f"{subset.subset} is {subset.group}" for subset in common) or "there is none"
        raise InputError(
            f"{files.curve.parent}: of the subsets that all files of {files.task} have, none is {' or '.join(missing)} "
            f"({described}); set their groups by published_groups='{{name: group}}'"
        )
    return common


def _build_context(results: Results, analysis: Analysis) -> Context:
    """Return the context of a published study."""

    def seeds(values: list[PublishedValue]) -> tuple[int, ...]:
        return tuple(sorted({value.seed for value in values if value.seed is not None}))

    mid, high = sorted({sparsity for sparsity, _ in results.actual})
    last, spread = LAST_STEPS[results.task], seeds(results.spread)
    spread_seeds = seeds([value for value in results.curve if value.sparsity in (mid, high)])
    return Context(
        mid=mid,
        high=high,
        last=last,
        seeds=spread,
        curve_seeds=seeds([*results.curve, *results.grid]),
        curve_repeat=CURVE_RUN,
        checkpoints=tuple(sorted({last, *(value.step for value in results.grid)})),
        repeats=tuple(seed for seed in spread_seeds if seed in spread),
        margin=analysis.margin,
        size_rule=analysis.effective_size,
        size_order=analysis.size_order,
        mixed=analysis.mixed,
        subsets=tuple(analysis.subsets),
        names=HANS_NAMES if results.task == "mnli" else {},
        counterpart=Counterpart(model="bert", task=results.task),
    )
