"""Texts and paths with braces, which Snakemake would interpret as wildcards."""

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# Looser than Snakemake's pattern, which differs between versions: linking more paths is harmless.
BRACES = re.compile(r"\{.*\}", re.DOTALL)


def escape_setting(value: Any) -> Any:
    """Protect a setting from wildcards: return a function of it if it has braces, else the setting.

    Snakemake expands wildcards in texts, but not in values that a function returns.
    """
    texts = value if isinstance(value, list | tuple) else [value]
    return (lambda wildcards: value) if any(isinstance(t, str) and BRACES.search(t) for t in texts) else value


def link_paths(paths: Sequence[str], folder: str | Path) -> list[str]:
    """Replace input paths with braces by symbolic links, since Snakemake expands wildcards in all input paths.

    Args:
        paths: Paths of inputs.
        folder: Folder of the links. Names of links are those of their files, with `_` for braces.
    """
    return [_link(path, Path(folder)) if BRACES.search(path) else path for path in paths]


def _link(path: str, folder: Path) -> str:
    """Make a symbolic link to a file, and return its path."""
    target, name = os.path.abspath(path), os.path.basename(path)
    link_name = re.sub(r"[{}]", "_", name)
    key = target if link_name != name else os.path.dirname(target)  # files of one folder stay together
    link = folder / hashlib.sha256(key.encode()).hexdigest()[:12] / link_name
    if not (link.is_symlink() and os.readlink(link) == target):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    return link.as_posix()
