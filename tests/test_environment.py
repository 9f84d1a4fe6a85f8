"""The lock is what pyproject.toml asks for."""

import re
import sys
import tomllib
from importlib.metadata import metadata, packages_distributions

import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from heuristic_core.provenance.digests import imported_packages
from heuristic_core.provenance.lock import COMPUTING_PACKAGES, DRAWING_PACKAGES

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DECLARED = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"]}
REQUIRED = [*PROJECT["dependencies"], *EXTRAS["dev"]]


@pytest.fixture(scope="module")
def pins():
    """Normalised name -> the version pinned in the lock."""
    lines = [line.strip() for line in (ROOT / "envs" / "requirements.txt").read_text().splitlines()]
    pairs = [re.fullmatch(r"([A-Za-z0-9._-]+)==(\S+)", line) for line in lines if line and not line.startswith("#")]
    assert pairs and all(pairs), "every line of the lock pins one version of one package"
    names = [canonicalize_name(pair[1]) for pair in pairs]
    assert sorted(set(names)) == sorted(names), "the lock pins a package once"
    return dict(zip(names, (Version(pair[2]) for pair in pairs), strict=True))


@pytest.mark.parametrize("text", REQUIRED)
def test_the_lock_satisfies_every_requirement(pins, text):
    requirement = Requirement(text)
    name = canonicalize_name(requirement.name)
    assert name in pins, f"envs/requirements.txt does not pin {name}: run `make lock`"
    assert requirement.specifier.contains(pins[name]), f"the lock has {name} {pins[name]}, pyproject.toml wants {text}"


def test_results_depend_on_what_the_project_requires_but_for_what_runs_jobs_locks_shows_progress_and_archives():
    tools = {"snakemake", "snakemake-executor-plugin-slurm", "snakemake-interface-logger-plugins"}
    tools |= {"filelock", "tqdm", "rich", "rocrate"}
    assert DECLARED - tools == COMPUTING_PACKAGES | DRAWING_PACKAGES
    assert not COMPUTING_PACKAGES & DRAWING_PACKAGES


def test_what_the_code_imports_is_declared():
    files = [path for folder in ("src", "workflow") for path in (ROOT / folder).rglob("*.py")]
    result = (
        imported_packages(files) - sys.stdlib_module_names - {path.stem for path in (*files, *(ROOT / "src").iterdir())}
    )
    assert {"torch", "yaml", "filelock"} <= result
    distributions = packages_distributions()
    assert [name for name in result if not {canonicalize_name(item) for item in distributions[name]} & DECLARED] == []


def test_every_package_of_the_lock_runs_on_the_oldest_python_that_the_project_names(pins):
    oldest = next(iter(SpecifierSet(PROJECT["requires-python"]))).version
    wants = {name: metadata(name).get("Requires-Python") or "" for name in pins}
    assert [f"{name}: {want}" for name, want in wants.items() if f"{oldest}.0" not in SpecifierSet(want)] == []


def test_the_lock_names_no_build_of_one_machine(pins):
    assert [f"{name}=={version}" for name, version in pins.items() if version.local] == []


def test_the_lock_pins_what_the_project_imports_and_does_not_pin_the_project(pins):
    assert canonicalize_name(PROJECT["name"]) not in pins
    assert {"pydantic-core", "tokenizers", "huggingface-hub"} <= set(pins), "not only direct requirements"


def test_make_uses_that_python_and_the_pins_of_pyproject(pins):
    text = (ROOT / "Makefile").read_text()
    series = PROJECT["requires-python"].removeprefix(">=")
    (candidates,) = re.findall(r"^PYTHON \?= (.*)$", text, re.M)
    assert re.findall(r"python[\d.]+", candidates)[0] == f"python{series}"
    named = {canonicalize_name(name): Version(version) for name, version in re.findall(r"([\w-]+)==([\w.]*\w)", text)}
    for name, version in named.items():
        wanted = [Requirement(t) for t in (*REQUIRED, *EXTRAS["minilm"])]
        (specifier,) = [r.specifier for r in wanted if canonicalize_name(r.name) == name]
        assert specifier.contains(version)
        assert pins.get(name, version) == version
