"""The published results of one task as a study: its subsets, and its context."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import yaml

from heuristic_core.common.errors import InputError
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis, Counterpart, Figures
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.experiments.heuristic_core.published.files import CURVE_RUN, LAST, Files, Results, Value, find, read
from heuristic_core.experiments.heuristic_core.published.paws import with_duplicates
from heuristic_core.experiments.heuristic_core.published.subsets import Named, named


class Published(NamedTuple):
    """subsets: those of all files, under the names the files have. common: those that are in all files. analysis: all
    defaults, but for effective sizes, which are those of the authors' script (of the grid, mixed by subset), and the
    subsets that enter group means: the common ones, and beside them the entailment class of their families, which the
    files of the spread alone have."""

    files: Files
    results: Results
    subsets: dict[str, Named]
    common: list[str]
    analysis: Analysis
    context: Context

    @property
    def task(self) -> str:
        return self.files.task

    @property
    def name(self) -> str:
        """Of the study."""
        return f"published-{self.task}"

    @property
    def figures(self) -> Figures:
        """Settings of figures: what is drawn over fine-tuning has the common subsets alone, table 3 those it prints."""
        shown = dict.fromkeys(("figure06", "figure10"), self.common)
        if printed := paper(self.task).get("ablations"):
            shown["table3"] = [one.subset for one in named(printed["subsets"], self.task, {}).values()]
        return Figures(**{name: Figure(subsets=subsets) for name, subsets in shown.items()})


def studies(folder: str | Path, groups: Mapping[str, str]) -> list[Published]:
    """The tasks whose files are in `folder`. groups: name of a subset -> group, where its name does not tell it.

    Raises InputError on files that are not as they should be, and on an entry of `groups` that no file has.
    """
    found = [_study(files, groups) for files in find(folder)]
    known = {word for study in found for name, one in study.subsets.items() for word in (name, one.subset)}
    if unknown := [name for name in groups if name not in known]:
        there = ", ".join(sorted(known))
        raise InputError(f"published_groups: no subset {unknown[0]!r} in {folder}; there are {there}")
    return found


@cache
def paper(task: str) -> dict:
    """What the paper itself prints of a task: keys heads, core_heads, ablations. Empty where nothing is kept of it."""
    text = resources.files(__package__).joinpath("paper.yaml").read_text()
    return yaml.safe_load(text).get(task, {})


def _study(files: Files, groups: Mapping[str, str]) -> Published:
    results = with_duplicates(read(files))
    parts = {"sp": results.spread, "curve": results.curve, "training": results.training, "grid": results.grid}
    names = {part: list(dict.fromkeys(value.name for value in values)) for part, values in parts.items()}
    subsets = named(dict.fromkeys(name for of_part in names.values() for name in of_part), files.task, groups)
    for of_part in names.values():
        first: dict[str, str] = {}
        for name in of_part:
            if (other := first.setdefault(subsets[name].subset, name)) != name:
                raise InputError(f"{files.task}: {other!r} and {name!r} of one file are both {subsets[name].subset}")
    common = _common([[subsets[name] for name in of_part] for of_part in names.values()], files)
    families = {one.family for one in common if one.group == "ood"}
    entailed = [one for one in subsets.values() if one.group == "ood-entailment" and one.family in families]
    subsets_of_means = list(dict.fromkeys(one.subset for one in [*common, *entailed]))
    analysis = Analysis(subsets=subsets_of_means, effective_size="grid", size_order="per-seed", mixed="subsets")
    return Published(files, results, subsets, [one.subset for one in common], analysis, _context(results, analysis))


def _common(parts: list[list[Named]], files: Files) -> list[Named]:
    """The subsets that all files have, in the order of the first."""
    everywhere = [one for one in parts[0] if all(one in part for part in parts)]
    if absent := {"id", "ood"} - {one.group for one in everywhere}:
        each = "; ".join(f"{one.subset} is {one.group}" for one in everywhere) or "there is none"
        raise InputError(
            f"{files.curve.parent}: of the subsets that all files of {files.task} have, none is {' or '.join(absent)} "
            f"({each}); say which are by published_groups='{{name: group}}'"
        )
    return everywhere


def _context(results: Results, analysis: Analysis) -> Context:
    def seeds(values: list[Value]) -> tuple[int, ...]:
        return tuple(sorted({value.seed for value in values if value.seed is not None}))

    mid, high = sorted({sparsity for sparsity, _ in results.actual})
    last, spread = LAST[results.task], seeds(results.spread)
    again = seeds([value for value in results.curve if value.sparsity in (mid, high)])
    return Context(
        mid=mid,
        high=high,
        last=last,
        seeds=spread,
        curve_seeds=seeds([*results.curve, *results.grid]),
        curve_repeat=CURVE_RUN,
        checkpoints=tuple(sorted({last, *(value.step for value in results.grid)})),
        repeats=tuple(seed for seed in again if seed in spread),
        margin=analysis.margin,
        size_rule=analysis.effective_size,
        size_order=analysis.size_order,
        mixed=analysis.mixed,
        subsets=tuple(analysis.subsets),
        counterpart=Counterpart(model="bert", task=results.task),
    )
