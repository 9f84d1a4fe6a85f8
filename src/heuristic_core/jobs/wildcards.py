"""Text and paths with braces, which Snakemake would take for its wildcards."""

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

# Looser than Snakemake's own pattern: a path that is a wildcard to no version of it may be linked, too.
BRACES = re.compile(r"\{.*\}", re.DOTALL)


def literal(value):
    """A setting as it is: what a function returns has no wildcards, as text or a list of it may have."""
    texts = value if isinstance(value, list | tuple) else [value]
    return (lambda wildcards: value) if any(isinstance(t, str) and BRACES.search(t) for t in texts) else value


def linked(paths: Sequence[str], folder: str | Path) -> list[str]:
    """`paths` for inputs of rules: those with braces by links in `folder`, as no text of an input is free of wildcards.

    A link is called as its file is, but for braces.
    """
    return [_link(path, Path(folder)) if BRACES.search(path) else path for path in paths]


def _link(path: str, folder: Path) -> str:
    target, name = os.path.abspath(path), os.path.basename(path)
    plain = re.sub(r"[{}]", "_", name)
    alike = target if plain != name else os.path.dirname(target)
    link = folder / hashlib.sha256(alike.encode()).hexdigest()[:12] / plain
    if not (link.is_symlink() and os.readlink(link) == target):
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    return link.as_posix()
