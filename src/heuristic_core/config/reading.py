"""Read configuration files, merge them and validate them. Error messages name file, key, value and remedy."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import Block

BlockType = TypeVar("Checked", bound=Block)


class ConfigError(InputError):
    """A configuration is invalid. The message names file, key, value and remedy."""


def validate(kind: type[BlockType], values: dict, origin: str) -> BlockType:
    """Validate values of a configuration.

    Args:
        kind: Type of the block.
        values: Key -> value.
        origin: Name of the configuration in messages.

    Raises:
        ConfigError: If values are invalid; the message has one line per error.
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        unknown_first = sorted(error.errors(), key=lambda details: details["type"] != "extra_forbidden")
        lines = [f"  {format_error(details, kind)}" for details in unknown_first]
        raise ConfigError(f"{origin} cannot be run:\n" + "\n".join(dict.fromkeys(lines))) from None


def read_config(path: str | Path) -> dict:
    """Read a YAML configuration file.

    Raises:
        ConfigError: If the file cannot be read, is not valid YAML, or is not a mapping.
    """
    try:
        values = parse_yaml(Path(path).read_text(encoding="utf-8"))
    except DuplicateKeyError as error:
        raise ConfigError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; pass the path of a configuration, such as config.yaml") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    except Exception as error:  # many types: bytes that are not text, invalid dates, `!!bool x`, endless nesting
        raise ConfigError(f"{path} is not valid YAML: {str(error) or type(error).__name__}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected `key: value` lines, found {type(values).__name__}")
    return values


class DuplicateKeyError(ValueError):
    """A YAML mapping repeats a key. Parsers would keep only the last value."""


def parse_yaml(text: str) -> Any:
    """Parse a YAML document.

    Returns:
        Its value, usually a dict; None if it is empty.

    Raises:
        DuplicateKeyError: If a mapping repeats a key.
        Exception: Errors of PyYAML on invalid text, of various types.
    """
    import yaml

    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_keys(loader, node)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _check_keys(loader, document) -> None:
    """Raise DuplicateKeyError if a mapping in a composed document repeats a key; keys merged by `<<` do not count."""
    waiting, seen = [("", document)], set()
    while waiting:
        path, node = waiting.pop()
        if isinstance(node.value, str) or id(node) in seen:
            continue
        seen.add(id(node))
        if node.id == "sequence":
            waiting += [(f"{path}.{index}", item) for index, item in enumerate(node.value)]
            continue
        lines: dict = {}
        for key, value in node.value:
            waiting += [(f"{path}.{key.value}", value), (path, key)]
            if key.id != "scalar" or key.tag == "tag:yaml.org,2002:merge":
                continue
            name, line = loader.construct_object(key), key.start_mark.line + 1
            if name in lines:
                raise DuplicateKeyError(
                    f"line {line}: key {f'{path}.{key.value}'[1:]} repeats line {lines[name]}; rename or remove one of "
                    "them"
                )
            lines[name] = line


def read_merged_configs(paths: Sequence[str | Path]) -> dict:
    """Read and merge configuration files. Later files override earlier ones, block by block, as in Snakemake."""
    values: dict = {}
    for path in paths:
        values = _merge(values, read_config(path))
    return values


def _merge(base: dict, override: dict) -> dict:
    nested = {key for key in override if isinstance(override[key], dict) and isinstance(base.get(key), dict)}
    return base | override | {key: _merge(base[key], override[key]) for key in nested}


def format_error(details: dict, kind: type[Block], parents: Sequence[str] = ()) -> str:
    """Format an error of pydantic as `key = value: problem; remedy`.

    Args:
        details: The error.
        kind: Type of the block.
        parents: Keys under which the block is in the configuration.
    """
    loc = details["loc"]
    if len(loc) > 1 and loc[0] in kind.model_fields and kind.model_fields[loc[0]].discriminator:
        loc = (loc[0], *loc[2:])  # without the variant that `source` selects
    key = ".".join(map(str, (*parents, *loc)))
    if details["type"] == "extra_forbidden":
        return f"{key} = {details['input']!r}: unknown key; {_suggest_keys(details['loc'], kind)}"
    if details["type"] == "missing":
        return f"{key}: missing; this key has no default"
    message = details["msg"].removeprefix("Value error, ")
    if details["type"] == "value_error":  # raised by our validators: the message names keys and values
        return message if not key or message.startswith(f"{key}.") else f"{key}: {message}"
    if details["type"] == "string_type" and isinstance(details["input"], bool):
        return f"{key} = {details['input']}: YAML reads yes, no, on, off, true and false as booleans; quote the text"
    value = repr(details["input"])
    value = value if len(value) <= 60 else value[:57] + "..."
    if details["type"] == "too_short":
        return f"{key} = {value}: too few; give at least {details['ctx']['min_length']}"
    return f"{key} = {value}: {message[0].lower()}{message[1:]}"


def _suggest_keys(loc: tuple, block: type[Block]) -> str:
    """Return the key most similar to an unknown one, or the list of possible keys."""
    *parents, unknown = map(str, loc)
    for part in parents:
        block = _descend(block, part)
    (block,) = [option for option in _list_variants(block) if option is not type(None)]
    keys = list(block.model_fields)
    near = difflib.get_close_matches(unknown, keys, n=1)
    return f"did you mean {near[0]}?" if near else f"remove it, or use one of: {', '.join(keys)}"


def _descend(annotation, part: str):
    """Return the type of one part of a location: variant of a union, field of a block, item of a list or dict."""
    for option in _list_variants(annotation):
        if get_origin(option) in (list, dict):
            return get_args(option)[-1]
        if isinstance(option, type) and issubclass(option, Block):
            fields = option.model_fields
            if "source" in fields and part in get_args(fields["source"].annotation):
                return option
            if part in fields:
                return fields[part].annotation


def _list_variants(annotation) -> list:
    """Return the members of a union, or a list of the type itself."""
    if get_origin(annotation) is Annotated:
        return _list_variants(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [option for member in get_args(annotation) for option in _list_variants(member)]
    return [annotation]
