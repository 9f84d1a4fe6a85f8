"""Environment variables that a run and its jobs replace: matplotlib's backend, arithmetic, caches."""

import os
import sys
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

from heuristic_core.common.arithmetic import prepare_arithmetic

# Jupyter and Colab set their own backend, which may not be installed here; figures are only written to files.
_DRAWING_VARIABLES = {"MPLBACKEND": "agg"}
# oneDNN keeps 1,024 kernels by default. Pruning in bfloat16 has more shapes: it would compile kernels again and again.
_ONEDNN_VARIABLES = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "10000"}


def prepare_drawing() -> None:
    """Set matplotlib's backend for files. Call it before matplotlib is imported."""
    os.environ.update(_DRAWING_VARIABLES)


def prepare_job(arithmetic: str) -> None:
    """Set this process's environment for a job. Call it before numpy, torch or matplotlib is imported."""
    prepare_drawing()
    os.environ.update(_ONEDNN_VARIABLES)
    prepare_arithmetic(arithmetic)


def prepare_caches(cache: str) -> None:
    """Move caches of libraries if the user's cannot be written, and print where.

    Args:
        cache: Cache folder of Snakemake. Call this before Snakemake copies its sources there.
    """
    if reason := move_caches(Path(cache), os.environ):
        print(f"{reason}; caches are kept in {os.environ['XDG_CACHE_HOME']}.", file=sys.stderr)


def move_caches(cache: Path, environment: MutableMapping[str, str]) -> str | None:
    """Set environment variables of caches if their folders cannot be written.

    Args:
        cache: Cache folder of Snakemake.
        environment: Environment variables, which are changed in place.

    Returns:
        Why Snakemake's cache was moved; None if it can be written.
    """
    home = Path("~").expanduser()
    user_cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    matplotlib_config = environment.get("MPLCONFIGDIR") or Path(
        environment.get("XDG_CONFIG_HOME") or home / ".config", "matplotlib"
    )
    fallbacks = (
        Path(".snakemake/caches").absolute(),
        Path(tempfile.gettempdir(), f"heuristic-core-caches-{os.getuid()}"),
    )
    folders = (user_cache, *fallbacks)
    usable = next((folder for folder in folders if not _find_write_error(folder / "matplotlib")), user_cache)
    if reason := _find_write_error(cache / "snakemake" / "source-cache"):
        if os.path.isdir(user_cache / "huggingface"):  # files downloaded before can still be read
            environment.setdefault("HF_HOME", str(user_cache / "huggingface"))
        environment["XDG_CACHE_HOME"] = str(usable)
    if _find_write_error(Path(matplotlib_config)):  # matplotlib would warn in every job
        environment["MPLCONFIGDIR"] = str(usable / "matplotlib")
    return reason and f"{cache} cannot be written ({reason})"


def _find_write_error(folder: Path) -> str | None:
    """Return why nothing can be written in a folder, which is made if necessary; None if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b" ")
    except OSError as error:
        return error.strerror or str(error)
    return None
