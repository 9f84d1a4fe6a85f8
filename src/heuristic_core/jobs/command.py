"""Command line of a job, from the names of a rule's inputs, outputs and settings."""

import json
import shlex
from collections.abc import Collection, Mapping

from pydantic import BaseModel

LINE_BREAK = " \\\n    "  # Snakemake prints commands with --printshellcmds, and when a job fails
MAX_WIDTH = 100  # characters of an option's values in one line


def format_command(script: str, *options: Mapping[str, object]) -> str:
    """Return a shell command with each option in its own line.

    Args:
        script: The command before the options.
        *options: Name -> value of inputs, outputs and settings. `a_b` becomes the option `--a-b`, a list several words;
            None and an empty list are left out.

    Raises:
        ValueError: If a name occurs twice.
    """
    lines = [script]
    names: set[str] = set()
    for name, value in (item for group in options for item in group.items()):
        if name in names:
            raise ValueError(f"{script}: two of its inputs, outputs and settings are called {name}")
        names.add(name)
        values = value if isinstance(value, list | tuple) else [value]
        words = [shlex.quote(str(item_value)) for item_value in values if item_value is not None]
        if words:
            separator = LINE_BREAK + "  " if len(words) > 1 and sum(map(len, words)) > MAX_WIDTH else " "
            lines.append(separator.join([f"--{name.replace('_', '-')}", *words]))
    return LINE_BREAK.join(lines)


def format_block(settings: BaseModel, names: Collection[str] | None = None) -> str:
    """Return settings as JSON with a line for each key.

    Args:
        settings: Block of the configuration.
        names: Keys to include; None for all.
    """
    values = json.loads(settings.model_dump_json(include=names and set(names)))
    return "{" + ",\n      ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items()) + "}"
