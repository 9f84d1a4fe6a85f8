"""A user's own profiles of Snakemake: read, checked, and laid over a profile of this project key by key."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import yaml

from heuristic_core.common.errors import InputError

# Options whose items have a key each. A profile writes them as a mapping or, as on the command line, as a list of
# KEY=VALUE; of `set-resources` the key is RULE:RESOURCE.
BY_RULE = "set-resources"
KEYED = {
    *("consider-ancient", "default-resources", "group-components", "groups", "resources", "set-resource-scopes"),
    *(BY_RULE, "set-scatter", "set-threads"),
}


def read_profile(file: Path, process: Callable, options: Mapping[str, str]) -> dict:
    """The keys of a profile, `KEYED` ones as mappings; none of an empty file.

    process: yte's `process_yaml`. options: the name of each of Snakemake's options by every name of it. Raises
    InputError that names file and key.
    """
    try:
        values = process(file.read_text(), require_use_yte=True)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{file} is no profile of Snakemake: {' '.join(str(error).split())}") from None
    except Exception as error:  # of a template's own code
        raise InputError(f"{file} is no profile of Snakemake: {type(error).__name__}: {error}") from None
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise InputError(f"{file} is no profile of Snakemake: it has {_shorten(values)} in the place of `key: value`")
    profile: dict = {}
    for key, value in values.items():
        name = _option(str(key), options)
        if name is None:
            raise InputError(
                f"{file}: {key} is no option of this version of Snakemake; `cluster` and what belongs to it are of "
                "version 7, and this project's profile has `executor: slurm` in their place. Remove it, or rename the "
                "profile"
            )
        profile[name] = _keyed(file, name, value) if name in KEYED and value is not None else value
    return profile


def merge_overrides(ours: Mapping, others: Iterable[Mapping]) -> dict:
    """The keys of `ours` that `others` change, later ones last; within a mapping, key by key. Null unsets a key."""
    changed: dict = {}
    for other in others:
        for key, value in other.items():
            changed[key] = _merge(changed.get(key, ours.get(key)), value)
    return changed


def _merge(base, value):
    if not isinstance(value, Mapping):
        return value
    merged = dict(base) if isinstance(base, Mapping) else {}
    for name, item in value.items():
        merged[name] = _merge(merged.get(name), item)
    return {name: item for name, item in merged.items() if item is not None}


def _option(key: str, options: Mapping[str, str]) -> str | None:
    """The option that a key names, as Snakemake finds it: by one of its names, or by how only one of them begins."""
    matches = {options[key]} if key in options else {name for other, name in options.items() if other.startswith(key)}
    return matches.pop() if len(matches) == 1 else None


def _keyed(file: Path, option: str, value) -> dict:
    """The items of an option of `KEYED` by their keys."""
    if isinstance(value, Mapping):
        items = dict(value)
    else:
        items = {}
        for item in value if isinstance(value, list) else str(value).split():
            key, equals, text = str(item).partition("=")
            if isinstance(item, Mapping):
                items |= item
            elif equals:
                items[key.strip()] = _number(text)
            else:
                raise InputError(f"{file}: {option}: {_shorten(item)} is no KEY=VALUE, such as {_example(option)}")
    if option != BY_RULE:
        return _values(file, option, items)
    for rule, resources in _by_rule(items).items():
        if not isinstance(resources, Mapping):
            raise InputError(f"{file}: {option}: {rule} has no resource; write it as {_example(option)}")
        items[rule] = _values(file, option, resources)
    return {rule: resources for rule, resources in items.items() if isinstance(resources, Mapping)}


def _values(file: Path, option: str, items: Mapping) -> dict:
    for key, value in items.items():
        if isinstance(value, Mapping | list):
            raise InputError(
                f"{file}: {option}: {key} has the value {_shorten(value)}; give it one, as {_example(option)}"
            )
    return dict(items)


def _by_rule(items: Mapping) -> dict:
    """Items `rule:resource` as one mapping for each rule."""
    grouped: dict = {}
    for key, value in items.items():
        rule, colon, resource = str(key).partition(":")
        if colon and not isinstance(value, Mapping):
            grouped.setdefault(rule, {})[resource] = value
        else:
            grouped[key] = value
    return grouped


def _number(text: str):
    """A number as one; YAML would take more words for something else than they are."""
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"[-+]?\d*\.\d+", text) else text


def _example(option: str) -> str:
    return {
        "default-resources": "slurm_account=my_project",
        BY_RULE: "finetune:runtime=600",
        "set-threads": "finetune=4",
    }.get(option, "name=value")


def _shorten(value) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
