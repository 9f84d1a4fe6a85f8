"""With what a page was made: versions of Python and packages, the platform, and the commit of this code."""

import platform
import subprocess
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "heuristic-core", "snakemake", "torch", "transformers", "safetensors", "numpy", "scipy", "pandas", "pyarrow",
    "matplotlib", "pydantic", "jinja2",
)  # fmt: skip
HERE = Path(__file__).parent


def versions() -> dict[str, str]:
    """Name -> version, of this process's environment; packages that are not installed are left out."""
    found = {"Python": platform.python_version(), "platform": platform.platform()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found | {"commit": commit(HERE)}


def commit(folder: Path) -> str:
    """The commit under which the code in `folder` stands, and whether it was changed since; or why it is unknown."""
    try:
        _git(folder, "ls-files", "--error-unmatch", "versions.py")  # installed code may lie inside a foreign repository
        changed = _git(folder, "status", "--porcelain")
        return _git(folder, "rev-parse", "HEAD") + (", with changes that are not committed" if changed else "")
    except OSError:
        return "not recorded: git is not installed"
    except subprocess.CalledProcessError:
        return "not recorded: this code does not lie in a git repository"


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()
