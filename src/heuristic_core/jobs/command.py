"""The command line of a job, from the names of a rule's inputs, outputs and settings."""

import json
import shlex
from collections.abc import Collection, Mapping

from pydantic import BaseModel

LINE_BREAK = (
    " \\\n    "  # the command goes on in the next line: Snakemake shows it with --printshellcmds, and where a job fails
)
WIDTH = 100


def command(script: str, *named: Mapping[str, object]) -> str:
    """The script and its options for a shell, each option in a line of its own.

    named: what inputs, outputs and settings are called, and what they are. `a_b` is the option `--a-b`; a list is
    several words; None and an empty list are no option. Raises ValueError where two of them have one name.
    """
    lines = [script]
    names: set[str] = set()
    for name, value in (item for group in named for item in group.items()):
        if name in names:
            raise ValueError(f"{script}: two of its inputs, outputs and settings are called {name}")
        names.add(name)
        values = value if isinstance(value, list | tuple) else [value]
        words = [shlex.quote(str(item_value)) for item_value in values if item_value is not None]
        if words:
            separator = LINE_BREAK + "  " if len(words) > 1 and sum(map(len, words)) > WIDTH else " "
            lines.append(separator.join([f"--{name.replace('_', '-')}", *words]))
    return LINE_BREAK.join(lines)


def block(settings: BaseModel, names: Collection[str] | None = None) -> str:
    """Settings as JSON, a line for each; names: of those that count, None for all."""
    values = json.loads(settings.model_dump_json(include=names and set(names)))
    return "{" + ",\n      ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in values.items()) + "}"
