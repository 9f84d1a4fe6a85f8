"""What a run and its jobs do not take over from the environment that they are started in."""

import os
import sys
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

from heuristic_core.common.arithmetic import prepare

# Figures are written to files. Jupyter and Colab export a backend of theirs, which need not be installed here.
DRAWING = {"MPLBACKEND": "agg"}


def prepare_drawing() -> None:
    """Let matplotlib, before it is imported, draw into files whatever the environment asks for."""
    os.environ.update(DRAWING)


def prepare_job(arithmetic: str) -> None:
    """Set this process's environment for a job. Call it before numpy, torch or matplotlib is imported."""
    prepare_drawing()
    prepare(arithmetic)


def prepare_caches(cache: str) -> None:
    """Give libraries a place for their caches where this user's own cannot be written, and say so.

    Call it before Snakemake, whose cache `cache` is, copies its sources there.
    """
    if reason := move_caches(Path(cache), os.environ):
        print(f"{reason}; caches are kept in {os.environ['XDG_CACHE_HOME']}.", file=sys.stderr)


def move_caches(cache: Path, environment: MutableMapping[str, str]) -> str | None:
    """Set variables of `environment` that name caches, and why; None where all can be written as they are.

    cache: Snakemake's.
    """
    home = Path("~").expanduser()
    of_all = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    drawing = environment.get("MPLCONFIGDIR") or Path(
        environment.get("XDG_CONFIG_HOME") or home / ".config", "matplotlib"
    )
    others = (Path(".snakemake/caches").absolute(), Path(tempfile.gettempdir(), f"heuristic-core-caches-{os.getuid()}"))
    usable = next((place for place in (of_all, *others) if not _obstacle(place / "matplotlib")), of_all)
    if reason := _obstacle(cache / "snakemake" / "source-cache"):
        if os.path.isdir(of_all / "huggingface"):  # what was downloaded can be read all the same
            environment.setdefault("HF_HOME", str(of_all / "huggingface"))
        environment["XDG_CACHE_HOME"] = str(usable)
    if _obstacle(Path(drawing)):  # matplotlib would say so in every job
        environment["MPLCONFIGDIR"] = str(usable / "matplotlib")
    return reason and f"{cache} cannot be written ({reason})"


def _obstacle(folder: Path) -> str | None:
    """Why nothing can be written in `folder`, which is made if need be; None where it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b" ")
    except OSError as error:
        return error.strerror or str(error)
    return None
