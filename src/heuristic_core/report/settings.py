"""The file study.json of a study, and its settings as lines of key and value."""

import json
from pathlib import Path
from typing import Annotated

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import Output, Read

Json = Annotated[dict, Read(json.loads)]


def describe_study(settings: Json, description: Output, context: Json | None = None) -> None:
    """Write study.json: a study's checked settings, and its context for analysis.

    Args:
        settings: The study's checked settings, as JSON.
        description: Where to write both (JSON).
        context: Settings of the study that analyses need, as JSON; default: none.
    """
    write_text(Path(description), json.dumps({"context": context, "settings": settings}, indent=1) + "\n")


def read_study(path: str | Path) -> dict:
    """Read study.json.

    Returns:
        "context": what analysis needs to know of the study, or None; "settings": its checked configuration.

    Raises:
        InputError: If the file is missing or has another form.
    """
    try:
        values = json.loads(Path(path).read_text())
        return {key: values[key] for key in ("context", "settings")}
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; it is written when the study runs") from None
    except (KeyError, TypeError, ValueError):
        raise InputError(f'{path}: not of the form {{"context": {{...}}, "settings": {{...}}}}') from None


def group_settings(settings: dict) -> dict[str, list[tuple[str, str]]]:
    """Group settings by block.

    Returns:
        Block -> list of (dotted key, value as text). Values outside blocks are in "study"; empty blocks are left out.
    """
    blocks: dict[str, list[tuple[str, str]]] = {"study": []}
    for name, value in settings.items():
        if isinstance(value, dict):
            blocks[name] = list(_flatten(value))
        else:
            blocks["study"].append((name, _format_value(value)))
    return {name: lines for name, lines in blocks.items() if lines}


def setting_differences(a: dict, b: dict) -> list[tuple[str, str | None, str | None]]:
    """Return the settings in which two checked configurations differ, except their names.

    Args:
        a: Checked configuration of the first study.
        b: Checked configuration of the second study.

    Returns:
        List of (dotted key, value in a, value in b); a value is None if the configuration lacks the key.
    """
    values_a, values_b = (dict(_flatten(settings)) for settings in (a, b))
    rows = [(key, values_a.get(key), values_b.get(key)) for key in values_a | values_b if key != "study"]
    return [(key, value_a, value_b) for key, value_a, value_b in rows if value_a != value_b]


def _flatten(values: dict, prefix: str = ""):
    """Yield (dotted key, value as text) of nested settings."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _format_value(value)


def _format_value(value) -> str:
    """Return a value as text: JSON, except strings."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
