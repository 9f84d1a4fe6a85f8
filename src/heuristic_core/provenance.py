"""With what a result is made: digests of code and files, the commit, versions of packages."""

import ast
import hashlib
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent
# Modules that only bring values to a job or tell of it: the values stand in a rule's params already.
CARRIERS = ("config", "arguments.py", "errors.py", "progress.py", "record.py")
# Those whose version may change a number or a picture.
PACKAGES = (
    *("heuristic-core", "torch", "numpy", "transformers", "tokenizers", "safetensors", "datasets", "huggingface-hub"),
    *("pandas", "pyarrow", "scipy", "matplotlib", "pydantic", "pyyaml", "jinja2", "snakemake"),
)
LENGTH = 16  # hexadecimal digits of a digest: enough for a few thousand jobs


def code_digest(*sources: str | Path) -> str:
    """One digest of `sources`, and of every module of this package that the Python files among them import.

    Comments, docstrings and layout do not count, so that editing them reruns nothing. What is imported (directly or
    not) is read from the source, not by importing it.
    """
    paths = [Path(source) for source in sources]
    modules = {module for path in paths if path.suffix == ".py" for module in _closure(path)}
    parts = [_meaning(path) if path.suffix == ".py" else path.read_text() for path in [*paths, *sorted(modules)]]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:LENGTH]


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def versions() -> dict[str, str]:
    """Name -> version of Python and of `PACKAGES`; those that are not installed are left out."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


class Commit(NamedTuple):
    """The commit under which code stands and whether it was changed since, or why that is not known."""

    sha: str | None
    dirty: bool | None
    why: str | None = None

    def __str__(self) -> str:
        return f"not recorded: {self.why}" if self.why else self.sha + ", with uncommitted changes" * self.dirty


def commit(folder: str | Path = PACKAGE) -> Commit:
    """The commit of the code in `folder`."""
    try:
        _git(folder, "ls-files", "--error-unmatch", ".")  # installed code may lie inside a foreign repository
        return Commit(
            _git(folder, "rev-parse", "HEAD"), bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))
        )
    except OSError:
        return Commit(None, None, "git is not installed")
    except subprocess.CalledProcessError:
        return Commit(None, None, "this code does not lie in a git repository")


def _git(folder: str | Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _closure(script: Path) -> set[Path]:
    """Files of this package reachable from `script` through imports, but for `CARRIERS`."""
    found: set[Path] = set()
    waiting = list(_imports(script))
    while waiting:
        module = waiting.pop()
        if module not in found and module.relative_to(PACKAGE).parts[0] not in CARRIERS:
            found.add(module)
            waiting += _imports(module)
    return found


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    modules = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(file for name in modules for file in _files(name))


def _files(module: str) -> list[Path]:
    """The source of a module of this package, with the packages above it; nothing for other modules."""
    first, *rest = module.split(".")
    if first != PACKAGE.name:
        return []
    files = []
    for depth in range(len(rest) + 1):
        folder = PACKAGE.joinpath(*rest[:depth])
        files += [
            f for f in (folder / "__init__.py", folder.with_suffix(".py")) if f.is_file() and f.parent != PACKAGE.parent
        ]
    return files


@cache
def _tree(path: Path) -> ast.AST:
    return ast.parse(path.read_text(), str(path))


@cache
def _meaning(path: Path) -> str:
    """The syntax tree of a source file without docstrings."""
    tree = _tree(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)
