"""With what a result is made: digests of code and files, the commit, versions of packages."""

import ast
import hashlib
import platform
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from heuristic_core.provenance.lock import COMPUTING, DRAWING, locked

PACKAGE = Path(__file__).parents[1]
# Modules and folders that only bring values to a job or tell of it: the values are in a rule's params already.
DIGEST_EXCLUDES = (
    "__init__.py",  # of the package: no job opens a study
    "config",
    "experiments/heuristic_core/config",
    "common/errors.py",
    "common/progress.py",
    "common/roles.py",
    "jobs/arguments.py",
    "jobs/job.py",
    "jobs/signature.py",
    "provenance/record.py",
)
DIGEST_LENGTH = 16  # hexadecimal digits of a digest: enough for a few thousand jobs


def code_digest(*sources: str | Path, lock: str | Path | None = None) -> str:
    """Return one digest of `sources`, of the modules of this package that they import, and of locked versions.

    The versions are those in `lock` of the packages that matter to these files.

    Comments, docstrings and layout do not count, so that editing them reruns nothing. What is imported (directly or
    not) is read from the source, not by importing it.
    """
    files = code_files(*sources)
    parts = [_file_ast(path) if path.suffix == ".py" else path.read_text() for path in files]
    if lock:
        versions = locked(Path(lock).read_text(), imported(files))
        parts += [f"{name}=={versions[name]}" for name in sorted(versions)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGEST_LENGTH]


def code_files(*sources: str | Path) -> list[Path]:
    """`sources`, and every module of this package that the Python files among them import."""
    paths = [Path(source) for source in sources]
    return [*paths, *sorted({module for path in paths if path.suffix == ".py" for module in _closure(path)})]


def imported(files: Iterable[Path]) -> set[str]:
    """The packages that the Python files among `files` import."""
    return {package for path in files if path.suffix == ".py" for package in _packages(path)}


@cache
def versions() -> dict[str, str]:
    """Name -> version of Python, of this project and of the packages that results depend on, as far as installed."""
    by_package = {"python": platform.python_version()}
    for name in ("heuristic-core", "snakemake", *sorted(COMPUTING | DRAWING)):
        try:
            by_package[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return by_package


class Commit(NamedTuple):
    """The commit that code is at, and whether it was changed since, or why that is not known."""

    sha: str | None
    dirty: bool | None
    why: str | None = None

    def __str__(self) -> str:
        return f"not recorded: {self.why}" if self.why else self.sha + ", with uncommitted changes" * self.dirty


def commit(folder: str | Path = PACKAGE) -> Commit:
    """The commit of the code in `folder`."""
    try:
        _git(folder, "ls-files", "--error-unmatch", ".")  # installed code may be inside a foreign repository
        return Commit(
            _git(folder, "rev-parse", "HEAD"), bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))
        )
    except OSError:
        return Commit(None, None, "git is not installed")
    except subprocess.CalledProcessError:
        return Commit(None, None, "this code is not in a git repository")


def _git(folder: str | Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@cache  # many rules of a large study run the same script
def _closure(script: Path) -> set[Path]:
    """Return files of this package that `script` imports, directly or not, except `DIGEST_EXCLUDES`."""
    modules: set[Path] = set()
    waiting = list(_imports(script))
    while waiting:
        module = waiting.pop()
        if module not in modules and not any(module.is_relative_to(PACKAGE / carrier) for carrier in DIGEST_EXCLUDES):
            modules.add(module)
            waiting += _imports(module)
    return modules


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    return tuple(file for name in _names(path) for file in _files(name, PACKAGE))


@cache
def _packages(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in _names(path)}


@cache
def _names(path: Path) -> tuple[str, ...]:
    """What a source file imports, or may: a name that comes from a module may be a module."""
    names = []
    for node in _statements(_tree(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(names)


@cache
def _files(module: str, package: Path) -> list[Path]:
    """The source of a module of `package`, with the packages above it; nothing for other modules."""
    first, *rest = module.split(".")
    if first != package.name:
        return []
    files = []
    for depth in range(len(rest) + 1):
        folder = package.joinpath(*rest[:depth])
        files += [
            f for f in (folder / "__init__.py", folder.with_suffix(".py")) if f.is_file() and f.parent != package.parent
        ]
    return files


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


@cache
def _file_ast(path: Path) -> str:
    return meaning(_tree(path))


def meaning(tree: ast.Module) -> str:
    """What a source file says: its syntax tree without docstrings, which are removed from it."""
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The tree and the statements in it, at any depth. Expressions, most of a tree, hold none and are passed over."""
    waiting: list[ast.AST] = [tree]
    for node in waiting:
        yield node
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            waiting += getattr(node, name, ())
