"""Parameters of a job, from the signature and docstring of its function."""

import inspect
import re
from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from heuristic_core.common.roles import Fields, ParameterRole, Read

SIMPLE = (str, int, float, bool)


class Group(NamedTuple):
    """A parameter that several jobs share, as a named tuple whose fields are their options.

    Attributes:
        name: Name of the parameter.
        make: Class of the named tuple.
    """

    name: str
    make: type


class Parameter(NamedTuple):
    """One parameter of a job.

    Attributes:
        name: Name of the parameter.
        kind: Type of the parameter, or of its items if it takes a list.
        role: Its `Role`, the `Fields` of an identity, or its reader (`Read`).
        several: Whether it takes a list.
        required: Whether it has no default.
        default: Default value.
        help: Its entry in the docstring.
        group: Group that it is a field of; None for a parameter of the function itself.
    """

    name: str
    kind: Any
    role: ParameterRole | Fields | Read
    several: bool
    required: bool
    default: Any
    help: str
    group: Group | None = None


def inspect_parameters(function: Callable) -> list[Parameter]:
    """Return the parameters of a job's function; a :class:`Group` gives one for each field.

    Raises:
        TypeError: If a parameter has no annotation or no entry in the docstring.
    """
    hints, helps = get_type_hints(function, include_extras=True), dict(_parse_section(function, "Args"))
    parameters: list[Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in hints or name not in helps:
            missing = "annotation" if name not in hints else "entry under Args of its docstring"
            raise TypeError(f"{function.__qualname__}: parameter {name} has no {missing}")
        required = parameter.default is parameter.empty
        if _is_group(hints[name]):
            parameters += _inspect_group(Group(name, hints[name]))
        else:
            default = None if required else parameter.default
            parameters.append(_parameter(name, hints[name], required, default, helps[name]))
    return parameters


def _is_group(hint) -> bool:
    return isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")


def _inspect_group(group: Group) -> list[Parameter]:
    """Return a parameter for each field of a group, with help from section Attributes of its docstring."""
    hints, helps = get_type_hints(group.make, include_extras=True), dict(_parse_section(group.make, "Attributes"))
    defaults = group.make._field_defaults
    return [
        _parameter(name, hints[name], name not in defaults, defaults.get(name), helps[name])._replace(group=group)
        for name in group.make._fields
    ]


def _parameter(name: str, hint, required: bool, default: Any, description: str) -> Parameter:
    kind, several = _split_list(hint)
    return Parameter(name, *_role(kind), several, required, default, description)


def read_summary(function: Callable) -> str:
    """Return the docstring of a function without its sections."""
    return re.split(r"\n\s*(Args|Returns|Raises):\n", inspect.getdoc(function) or "")[0].strip()


def _split_list(hint) -> tuple[Any, bool]:
    """Return the type of a value, or of the items of a list, and whether it is a list; `None` is left out."""
    if get_origin(hint) in (Union, UnionType):
        rest = [part for part in get_args(hint) if part is not NoneType]
        if len(rest) == 1:
            return _split_list(rest[0])
    if get_origin(hint) is list:
        return get_args(hint)[0], True
    return hint, False


def _role(kind) -> tuple[Any, ParameterRole | Fields | Read]:
    for mark in getattr(kind, "__metadata__", ()):
        if isinstance(mark, ParameterRole | Fields | Read):
            return get_args(kind)[0], mark
    return kind, ParameterRole.VALUE if kind in SIMPLE or get_origin(kind) is Literal else ParameterRole.BLOCK


def _parse_section(documented: Callable | type, title: str) -> Iterator[tuple[str, str]]:
    """Yield name and text (one line) of each entry of a section of a Google-style docstring."""
    section = re.search(rf"^{title}:\n((?:[ \t]+.*\n?|\n)+)", inspect.getdoc(documented) or "", re.MULTILINE)
    entries = re.split(r"^ {4}(\w+(?:, \w+)*): ", section[1] if section else "", flags=re.MULTILINE)
    for names, text in zip(entries[1::2], entries[2::2], strict=True):
        for name in names.split(", "):
            yield name, " ".join(text.split()).rstrip(".")
