"""The causes that Snakemake's dry run gives for each job.

They are read from its words: no interface of Snakemake has them apart, neither its API nor what it tells loggers.
"""

import ast
import re
from collections.abc import Iterable
from typing import NamedTuple

from heuristic_core.plan.jobs import Listed, family

PARAMS = (
    "Params have changed since last execution: Union of exclusive params before and now across all output: before: "
)
FILES = {"missing": "Missing output files", "cut off": "Incomplete output files", "updated": "Updated input files"}
NOTHING = "<nothing exclusive>"


class Reason(NamedTuple):
    """Why a job would run, of its own.

    files: what of `FILES` holds -> the paths. before, now: values of parameters that only the last run had, or only
    this one. inputs, command: whether the list of inputs or the rule's command is another. forced: on demand.
    """

    files: dict[str, list[str]]
    before: list
    now: list
    inputs: bool
    command: bool
    forced: bool


class Planned(NamedTuple):
    """A job that would run. rule: its family. inputs, outputs: paths. words: of its command."""

    rule: str
    inputs: list[str]
    outputs: list[str]
    words: list[str]
    reason: Reason


def planned(jobs: Iterable[Listed]) -> list[Planned]:
    """The jobs of a dry run, with what Snakemake's words mean."""
    return [Planned(family(job.rule), job.inputs, job.outputs, job.words, reason_of(job.reason)) for job in jobs]


def reason_of(text: str) -> Reason:
    """What Snakemake's words mean."""
    head, _, params = text.partition(PARAMS)
    parts = dict(part.partition(": ")[::2] for part in head.split("; "))
    return Reason(
        {name: parts[words].split(", ") for name, words in FILES.items() if words in parts},
        *_values(params.partition("; Software environment definition has changed")[0].rstrip()),
        inputs="Set of input files has changed since last execution" in parts,
        command="Code has changed since last execution" in parts,
        forced="Forced execution" in parts,
    )


def _values(text: str) -> tuple[list, list]:
    """The two lists of values in `'a','b' now: 'c'`. Text of another form is returned as it is."""
    for found in re.finditer(" now: ", text):
        try:
            return _literals(text[: found.start()]), _literals(text[found.end() :])
        except (SyntaxError, ValueError):
            continue
    return ([], [text]) if text else ([], [])


def _literals(text: str) -> list:
    return [] if text == NOTHING else list(ast.literal_eval(f"({text},)"))
