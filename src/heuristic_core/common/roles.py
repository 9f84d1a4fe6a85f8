"""What the parameters of a job's function are: its signature says what the job reads, writes and is set by.

=====================================  ==================================================================
``Input``, ``Output``                  path of a file or folder that the job reads, or writes
``Folder``                             path below which other parameters name files
``Unfinished``                         folder for the state of a job that can resume
``Annotated[Identity, Fields(...)]``   which run, by these fields beside study, model and task
``Annotated[T, Read(...)]``            read from the command line by a function
a pydantic model, or a union of them   block of a study's configuration
``str``, ``int``, ``float``, Literal   a value
``bool``                               a switch, off by default
=====================================  ==================================================================

A parameter that is a list takes several; one with a default may be left out.
"""

from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from heuristic_core.common.errors import InputError


class Role(Enum):
    """What a parameter is, where its type does not say it."""

    INPUT = auto()
    OUTPUT = auto()
    FOLDER = auto()
    UNFINISHED = auto()
    VALUE = auto()
    BLOCK = auto()


class Fields(tuple):
    """The fields of an identity that a job is about, beside study, model and task."""

    def __new__(cls, *names: str):
        """Return the fields of these names."""
        return super().__new__(cls, names)


class Read(NamedTuple):
    """How a parameter is read from a word of the command line."""

    read: Callable[[str], Any]


Input = Annotated[str, Role.INPUT]
Output = Annotated[str, Role.OUTPUT]
Folder = Annotated[str, Role.FOLDER]
Unfinished = Annotated[Path, Role.UNFINISHED]


def require_same_length(**lists: list) -> None:
    """Check that lists have one entry for each entry of the first of them.

    Raises:
        InputError: One has more or fewer.
    """
    (first, values), *others = lists.items()
    for name, entries in others:
        if len(entries) != len(values):
            raise InputError(f"{name}: {len(entries)} given for {len(values)} {first}; give one for each")
