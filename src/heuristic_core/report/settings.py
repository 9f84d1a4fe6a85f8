"""A study's study.json, and its settings as lines of key and value."""

import json
from pathlib import Path
from typing import Annotated

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import Output, Read

Json = Annotated[dict, Read(json.loads)]


def describe_study(settings: Json, description: Output, context: Json | None = None) -> None:
    """Write study.json: a study's checked settings, and what analysis knows of the study.

    Args:
        settings: The study's checked settings, as JSON.
        description: Where to write both (JSON).
        context: What analysis knows, as JSON; default: nothing.
    """
    write_text(Path(description), json.dumps({"context": context, "settings": settings}, indent=1) + "\n")


def read_study(path: str | Path) -> dict:
    """Read study.json.

    Returns:
        "context": what analysis needs to know of the study, or None; "settings": its checked configuration.
    """
    try:
        values = json.loads(Path(path).read_text())
        return {key: values[key] for key in ("context", "settings")}
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; it is written when the study runs") from None
    except (KeyError, TypeError, ValueError):
        raise InputError(f'{path}: not of the form {{"context": {{...}}, "settings": {{...}}}}') from None


def settings_by_block(settings: dict) -> dict[str, list[tuple[str, str]]]:
    """Block -> (key, value as text); nested keys are joined by points. Plain values are in the block "study"."""
    blocks: dict[str, list[tuple[str, str]]] = {"study": []}
    for name, value in settings.items():
        if isinstance(value, dict):
            blocks[name] = list(_lines(value))
        else:
            blocks["study"].append((name, _text(value)))
    return {name: lines for name, lines in blocks.items() if lines}


def differing(a: dict, b: dict) -> list[tuple[str, str | None, str | None]]:
    """(key, value in a, value in b) of every setting in which two checked configurations differ, but for their names.

    None where a side does not have the key.
    """
    lines_a, lines_b = (dict(_lines(values)) for values in (a, b))
    pairs = [(key, lines_a.get(key), lines_b.get(key)) for key in lines_a | lines_b if key != "study"]
    return [(key, value_a, value_b) for key, value_a, value_b in pairs if value_a != value_b]


def _lines(values: dict, prefix: str = ""):
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _lines(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _text(value)


def _text(value) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
