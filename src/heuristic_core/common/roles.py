"""Roles of the parameters of a job's function, whose signature declares inputs, outputs and settings of the job.

=====================================  ==================================================================
``Input``, ``Output``                  path of a file or folder that the job reads, or writes
``Folder``                             path below which other parameters name files
``Unfinished``                         folder for the state of a job that can resume
``Annotated[Identity, Fields(...)]``   identity of the run: these fields, and study, model and task
``Annotated[T, Read(...)]``            read from the command line by a function
a pydantic model, or a union of them   block of a study's configuration
``str``, ``int``, ``float``, Literal   a value
``bool``                               a switch, off by default
=====================================  ==================================================================

A list takes several values. A parameter with a default is optional.
"""

from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from heuristic_core.common.errors import InputError


class ParameterRole(Enum):
    """Role of a parameter that its type does not show."""

    INPUT = auto()
    OUTPUT = auto()
    FOLDER = auto()
    UNFINISHED = auto()
    VALUE = auto()
    BLOCK = auto()


class Fields(tuple):
    """Names of the fields that identify the runs of a job, in addition to study, model and task."""

    def __new__(cls, *names: str):
        """Make a tuple of the names."""
        return super().__new__(cls, names)


class Read(NamedTuple):
    """Reader of a parameter.

    Attributes:
        read: Function of a word of the command line.
    """

    read: Callable[[str], Any]


Input = Annotated[str, ParameterRole.INPUT]
Output = Annotated[str, ParameterRole.OUTPUT]
Folder = Annotated[str, ParameterRole.FOLDER]
Unfinished = Annotated[Path, ParameterRole.UNFINISHED]


def require_same_length(**lists: list) -> None:
    """Check that lists have as many entries as the first of them.

    Args:
        **lists: Name in the error message -> list.

    Raises:
        InputError: If one has more or fewer.
    """
    (first, values), *others = lists.items()
    for name, entries in others:
        if len(entries) != len(values):
            raise InputError(f"{name}: {len(entries)} given for {len(values)} {first}; pass one for each")
