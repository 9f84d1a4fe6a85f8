"""Configurations: files read, merged and checked against a block; errors that a person can act on."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import Block

BlockType = TypeVar("Checked", bound=Block)


class ConfigError(InputError):
    """A configuration that cannot be run. The message names file, key, value and remedy."""


def validate(kind: type[BlockType], values: dict, origin: str) -> BlockType:
    """`values` as a block of `kind`. Raises ConfigError with one line per fault."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        lines = [f"  {_explain(fault, kind)}" for fault in error.errors()]
        raise ConfigError(f"{origin} cannot be run:\n" + "\n".join(dict.fromkeys(lines))) from None


def read_config(path: str | Path) -> dict:
    """A YAML configuration file as it is. Raises ConfigError where it cannot be read or holds no keys."""
    try:
        values = parse_yaml(Path(path).read_text(encoding="utf-8"))
    except DuplicateKeyError as error:
        raise ConfigError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file; give the path of a study's configuration, such as config.yaml"
        ) from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None
    except Exception as error:  # no text, an impossible date, `!!bool x`, lists in lists without end: each its own
        raise ConfigError(f"{path} is not valid YAML: {str(error) or type(error).__name__}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected `key: value` lines, found {type(values).__name__}")
    return values


class DuplicateKeyError(ValueError):
    """A mapping in YAML has a key twice, of which parsers keep the last."""


def parse_yaml(text: str):
    """The value of a YAML document. Raises DuplicateKeyError, or what PyYAML raises on text that is none."""
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
    """Raise DuplicateKeyError where a mapping below a composed node has a key twice, whatever `<<` merges into it."""
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
                    f"line {line}: the key {f'{path}.{key.value}'[1:]} is in line {lines[name]}, too, and only one of "
                    "them would count; give every entry a key of its own, or remove one"
                )
            lines[name] = line


def read_merged_configs(paths: Sequence[str | Path]) -> dict:
    """Several configuration files as one: later files override earlier files, block by block, as Snakemake does it."""
    values: dict = {}
    for path in paths:
        values = _merge(values, read_config(path))
    return values


def _merge(base: dict, override: dict) -> dict:
    nested = {key for key in override if isinstance(override[key], dict) and isinstance(base.get(key), dict)}
    return base | override | {key: _merge(base[key], override[key]) for key in nested}


def _explain(fault: dict, kind: type[Block]) -> str:
    """One pydantic fault as `key = value: what is wrong; what would be right`."""
    loc = fault["loc"]
    if len(loc) > 1 and loc[0] in kind.model_fields and kind.model_fields[loc[0]].discriminator:
        loc = (loc[0], *loc[2:])  # without the variant, which `source` chose
    key = ".".join(map(str, loc))
    if fault["type"] == "extra_forbidden":
        return f"{key} = {fault['input']!r}: unknown key; {_known_keys(fault['loc'], kind)}"
    if fault["type"] == "missing":
        return f"{key}: missing; this key has no default"
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "value_error":  # such a message names its keys and values itself
        return f"{key}: {message}" if key else message
    value = repr(fault["input"])
    value = value if len(value) <= 60 else value[:57] + "..."
    return f"{key} = {value}: {message[0].lower()}{message[1:]}"


def _known_keys(loc: tuple, block: type[Block]) -> str:
    """Which keys are possible where an unknown key was found, the nearest first."""
    *parents, unknown = map(str, loc)
    for part in parents:
        block = _descend(block, part)
    (block,) = [option for option in _options(block) if option is not type(None)]
    keys = list(block.model_fields)
    near = difflib.get_close_matches(unknown, keys, n=1)
    return f"did you mean {near[0]}?" if near else f"remove it, or use one of: {', '.join(keys)}"


def _descend(annotation, part: str):
    """The type behind one part of a location: a variant of a union, a field of a block, an item of a list or dict."""
    for option in _options(annotation):
        if get_origin(option) in (list, dict):
            return get_args(option)[-1]
        if isinstance(option, type) and issubclass(option, Block):
            fields = option.model_fields
            if "source" in fields and part in get_args(fields["source"].annotation):
                return option
            if part in fields:
                return fields[part].annotation


def _options(annotation) -> list:
    """The members of a union, or the type itself."""
    if get_origin(annotation) is Annotated:
        return _options(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [option for member in get_args(annotation) for option in _options(member)]
    return [annotation]
