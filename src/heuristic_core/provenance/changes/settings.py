"""What differs between the parameters of a job's last run and of its next one, in the words of the configuration."""

import json
import re
from collections.abc import Iterator, Sequence

from heuristic_core.provenance.digests import LENGTH

DIGEST = re.compile(rf"[0-9a-f]{{{LENGTH}}}")
LONGEST = 60  # characters of a value that are shown


def is_digest(value) -> bool:
    """Whether a parameter is the digest of code and packages."""
    return isinstance(value, str) and bool(DIGEST.fullmatch(value))


def differences(before: Sequence, now: Sequence, words: Sequence[str]) -> list[str]:
    """Settings that changed, as `prune.learning_rate 0.2 -> 0.3`. words: the command, which names what values are."""
    old, new = ([value for value in values if not is_digest(value)] for values in (before, now))
    lines: dict[str, list[str]] = {}
    for value in list(new):
        block = _block(value)
        former = max(old, key=lambda one: len(_block(one).keys() & block.keys()), default=None)
        if _block(former).keys() & block.keys():
            old.remove(former)
            new.remove(value)
            name = option(value, words)
            lines.setdefault(name, []).extend(compared(name, _block(former), block))
    if len(lines) > 1:  # it is made from the settings: where these are named they say more
        lines.pop("context", None)
    found = [line for group in lines.values() for line in group]
    if old or new:
        name = option(new[0], words) if len(new) == 1 else ""
        former, present = (", ".join(map(_shown, values)) or "none" for values in (old, new))
        found.append(f"{name} {former} -> {present}".strip())
    return found


def option(value, words: Sequence[str]) -> str:
    """The name of the command's option that has this value; nothing where there is none, or more than one."""
    name, found = "", set()
    for word in words:
        name = word.removeprefix("--") if word.startswith("--") else name
        found |= {name} if word == str(value) else set()
    return found.pop() if len(found) == 1 else ""


def _block(value) -> dict:
    """The settings that a parameter holds as JSON; none if it holds something else."""
    try:
        block = json.loads(value)
    except (TypeError, ValueError):
        return {}
    return block if isinstance(block, dict) else {}


def compared(name: str, old: dict, new: dict) -> Iterator[str]:
    """What differs between two nested settings called `name`, a line for each."""
    for key in [*new, *(key for key in old if key not in new)]:
        path = f"{name}.{key}" if name not in ("", "settings") else key  # `settings` is the configuration itself
        if key not in new:
            yield f"{path} removed"
        elif key not in old:
            yield f"{path} added"
        elif isinstance(old[key], dict) and isinstance(new[key], dict):
            yield from compared(path, old[key], new[key])
        elif old[key] != new[key]:
            yield f"{path} {_shown(old[key])} -> {_shown(new[key])}"


def _shown(value) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
