"""What a result is made with: digests of code, the commit, versions of packages."""

import ast
import hashlib
import platform
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from heuristic_core.provenance.lock import COMPUTING_PACKAGES, DRAWING_PACKAGES, relevant_pins

PACKAGE = Path(__file__).parents[1]
# Modules and folders that only pass values to a job or report on it: the values are in the rule's params already.
DIGEST_EXCLUDES = (
    "__init__.py",  # the package's own: no job opens a study
    "config",
    "experiments/subnetworks/config",
    "common/errors.py",
    "common/progress.py",
    "common/roles.py",
    "jobs/arguments.py",
    "jobs/job.py",
    "jobs/signature.py",
    "provenance/record.py",
    "provenance/settings.py",
)
DIGEST_LENGTH = 16  # hexadecimal digits of a digest: enough for a few thousand jobs


def code_digest(*sources: str | Path, lock: str | Path | None = None) -> str:
    """Return a digest of source files, of the modules of this package that they import, and of locked versions.

    Comments, docstrings and layout do not count, so that editing them reruns nothing. Imports, direct or not, are read
    from the source; nothing is imported.

    Args:
        sources: Paths of Python or other text files.
        lock: Path of a lock file; if given, the versions of the packages that matter to these files count, too.

    Returns:
        `DIGEST_LENGTH` hexadecimal digits.
    """
    files = code_files(*sources)
    parts = [_dump_file(path) if path.suffix == ".py" else path.read_text() for path in files]
    if lock:
        versions = relevant_pins(Path(lock).read_text(), imported_packages(files))
        parts += [f"{name}=={versions[name]}" for name in sorted(versions)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGEST_LENGTH]


def code_files(*sources: str | Path) -> list[Path]:
    """Return `sources` and every module of this package that the Python files among them import, directly or not."""
    paths = [Path(source) for source in sources]
    modules = {module for path in paths if path.suffix == ".py" for module in _collect_modules(path)}
    return [*paths, *sorted(modules)]


def imported_packages(files: Iterable[Path]) -> set[str]:
    """Return the import names of all packages that the Python files among `files` import."""
    return {package for path in files if path.suffix == ".py" for package in _top_level_packages(path)}


@cache
def package_versions() -> dict[str, str]:
    """Return name -> version of Python, this project, Snakemake and the installed packages that results depend on."""
    by_package = {"python": platform.python_version()}
    for name in ("heuristic-core", "snakemake", *sorted(COMPUTING_PACKAGES | DRAWING_PACKAGES)):
        try:
            by_package[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return by_package


class Commit(NamedTuple):
    """The git commit of code.

    Attributes:
        sha: Hash of the commit; None if unknown.
        dirty: Whether tracked files differ from it; None if unknown.
        reason: Why the commit is unknown; None if it is known.
    """

    sha: str | None
    dirty: bool | None
    reason: str | None = None

    def __str__(self) -> str:
        return f"not recorded: {self.reason}" if self.reason else self.sha + ", with uncommitted changes" * self.dirty


def read_commit(folder: str | Path = PACKAGE) -> Commit:
    """Return the commit of the code in `folder`, which is unknown without git or a repository."""
    try:
        _run_git(folder, "ls-files", "--error-unmatch", ".")  # installed code may be inside another repository
        return Commit(
            _run_git(folder, "rev-parse", "HEAD"),
            bool(_run_git(folder, "status", "--porcelain", "--untracked-files=no")),
        )
    except OSError:
        return Commit(None, None, "git is not installed")
    except subprocess.CalledProcessError:
        return Commit(None, None, "this code is not in a git repository")


def _run_git(folder: str | Path, *arguments: str) -> str:
    """Return the output of a git command."""
    process = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return process.stdout.strip()


@cache  # many rules of a large study run the same script
def _collect_modules(script: Path) -> set[Path]:
    """Return files of this package that `script` imports, directly or not, except `DIGEST_EXCLUDES`."""
    modules: set[Path] = set()
    queue = list(_imported_files(script))
    while queue:
        module = queue.pop()
        if module not in modules and not any(module.is_relative_to(PACKAGE / exclude) for exclude in DIGEST_EXCLUDES):
            modules.add(module)
            queue += _imported_files(module)
    return modules


@cache
def _imported_files(path: Path) -> tuple[Path, ...]:
    """Return the files of this package that a source file imports directly."""
    return tuple(file for name in _imported_names(path) for file in _module_files(name, PACKAGE))


@cache
def _top_level_packages(path: Path) -> set[str]:
    """Return the packages that a source file imports, such as `torch` for `torch.nn`."""
    return {name.partition(".")[0] for name in _imported_names(path)}


@cache
def _imported_names(path: Path) -> tuple[str, ...]:
    """Return the dotted names that a source file imports; `from a import b` gives `a` and `a.b`, a possible module."""
    names = []
    for node in _iter_statements(_parse(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(names)


@cache
def _module_files(module: str, package: Path) -> list[Path]:
    """Return the source of a module of `package` and `__init__.py` of its parents; empty for other modules."""
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
def _parse(path: Path) -> ast.Module:
    """Return the syntax tree of a source file."""
    return ast.parse(path.read_text(), str(path))


@cache
def _dump_file(path: Path) -> str:
    """Return the syntax tree of a source file as text."""
    return normalised_ast(_parse(path))


def normalised_ast(tree: ast.Module) -> str:
    """Return a syntax tree without docstrings as text. Docstrings are removed from `tree` in place."""
    for node in _iter_statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _iter_statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the tree and the statements in it, at any depth, without visiting expressions, which are most of a tree."""
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        yield node
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            nodes += getattr(node, name, ())
