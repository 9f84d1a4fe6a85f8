"""The settings of a job in its record: from its command line, without private parts."""

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

NON_SETTINGS = ("--code", "--log")  # options that do not affect results
_SEED_PATTERN = re.compile(r"(^|[-_])seeds?$")


def extract_settings(arguments: Sequence[str], paths: Iterable[str]) -> dict:
    """Return the settings on a command line, without private parts; `paths` (inputs and outputs) are left out.

    Args:
        arguments: Words of the command line.
        paths: Inputs and outputs.

    Returns:
        Option without `--` -> value, parsed as JSON if possible; a list if there are several.
    """
    options: dict[str, list] = {}
    values: list = []
    for argument in arguments:
        if argument.startswith("--"):
            values = options.setdefault(argument, [])
        elif argument not in paths:
            values.append(redact(_parse_json(argument)))
    kept = {name: values for name, values in options.items() if values and name not in NON_SETTINGS}
    return {name[2:]: values[0] if len(values) == 1 else values for name, values in kept.items()}


def _parse_json(text: str):
    """Return the value of a JSON text; other text unchanged."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def redact(value: Any) -> Any:
    """Return a value without private parts: of a path outside the checkout its last part, of an address no query."""
    if isinstance(value, dict):
        return {key: redact(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [redact(inner) for inner in value]
    if not isinstance(value, str):
        return value
    if "://" in value and not value.startswith("file:"):
        parts = urlsplit(value)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    outside = os.path.isabs(value) or value.startswith(("~", "file:")) or ".." in Path(value).parts
    return Path(value).name if outside else value


def collect_seeds(values: dict) -> dict:
    """Return every seed among nested settings, by the dotted path of its keys."""
    values_by_path = {}
    for key, value in values.items():
        if isinstance(value, dict):
            values_by_path |= {f"{key}.{inner}": seed for inner, seed in collect_seeds(value).items()}
        elif _SEED_PATTERN.search(key):
            values_by_path[key] = value
    return values_by_path


def find_precision(values: dict) -> str | None:
    """Return the precision of the model that a job with settings `values` trained or ran; None without a model."""
    blocks = [value for value in values.values() if isinstance(value, dict)]
    setting = next((block["precision"] for block in [*blocks, values] if block.get("precision")), None)
    if setting != "auto":
        return setting
    if "device" not in values:
        return None
    from heuristic_core.models.device import resolve_device, resolve_precision

    return resolve_precision(resolve_device(values["device"]), setting)
