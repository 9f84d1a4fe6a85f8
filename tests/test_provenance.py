"""A digest tells what code means: it follows imports, and overlooks what changes no result."""

import ast
import shutil

import pytest
from amounts import first_fast
from conftest import ROOT

from heuristic_core.common.hashing import file_digest
from heuristic_core.provenance import digests as code_digests
from heuristic_core.provenance.digests import DIGEST_LENGTH, code_digest

SCRIPT = '''"""A script."""

import json
import tiny.folder.inner
from tiny import far
from tiny.near import limit


def main():
    """Work."""
    return limit()
'''
MODULES = {
    "__init__.py": "",
    "near.py": '"""Near."""\nfrom tiny.base import LIMIT\n\n\ndef limit():\n    return LIMIT\n',
    "base.py": "# how many\nLIMIT = 3\n",
    "far.py": "FAR = 1\n",
    "folder/__init__.py": "OPEN = True\n",
    "folder/inner.py": "class Inner:\n    size = 4\n",
    "unused.py": "SIZE = 5\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in place of ours; its folder. Every module but `unused` is imported by the script beside it."""
    folder = tmp_path / "tiny"
    for name, text in MODULES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.setattr(code_digests, "PACKAGE", folder)
    yield folder
    forget()


def forget():
    """Empty the caches of the module, which take files for unchanging."""
    for function in vars(code_digests).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def digest(*sources):
    forget()
    return code_digest(*sources)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_digest_is_short_hexadecimal_and_stays(package):
    first = digest(package.parent / "script.py")
    assert len(first) == DIGEST_LENGTH and int(first, 16) >= 0
    assert digest(package.parent / "script.py") == digest(str(package.parent / "script.py")) == first


def test_a_checkout_elsewhere_has_the_same_digest(package, tmp_path, monkeypatch):
    before = digest(package.parent / "script.py")
    shutil.copytree(package, tmp_path / "elsewhere" / "tiny")
    shutil.copy(package.parent / "script.py", tmp_path / "elsewhere" / "other_name.py")
    monkeypatch.setattr(code_digests, "PACKAGE", tmp_path / "elsewhere" / "tiny")
    assert digest(tmp_path / "elsewhere" / "other_name.py") == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("base.py", "# how many", "# how many at most\n"),
        ("base.py", "LIMIT = 3", "LIMIT    =  (3)  # three"),
        ("near.py", '"""Near."""', '"""Not so far."""'),
        ("near.py", '"""Near."""\n', ""),
        ("near.py", "def limit():\n", 'def limit():\n    """A limit."""\n\n'),
        ("folder/inner.py", "class Inner:\n", 'class Inner:\n    """Inside."""\n\n'),
        ("../script.py", '"""Work."""', '"""Work hard."""'),
        ("unused.py", "SIZE = 5", "SIZE = 6"),
    ],
)
def test_what_changes_no_result_changes_no_digest(package, file, old, new):
    before = digest(package.parent / "script.py")
    edit(package / file, old, new)
    assert digest(package.parent / "script.py") == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("base.py", "3", "4"),
        ("base.py", "3", "'3'"),
        ("near.py", "return LIMIT", "return -LIMIT"),
        ("near.py", "return LIMIT", 'return """LIMIT"""'),
        ("far.py", "1", "2"),
        ("folder/__init__.py", "True", "False"),
        ("folder/inner.py", "4", "5"),
        ("../script.py", "limit()\n", "limit() + 1\n"),
    ],
)
def test_a_change_of_meaning_changes_it_wherever_it_is_imported(package, file, old, new):
    before = digest(package.parent / "script.py")
    edit(package / file, old, new)
    assert digest(package.parent / "script.py") != before


def test_importing_one_more_module_changes_it(package):
    before = digest(package.parent / "script.py")
    edit(package / "base.py", "LIMIT = 3", "import tiny.unused\nLIMIT = 3")
    importing = digest(package.parent / "script.py")
    edit(package / "unused.py", "5", "6")
    assert len({before, importing, digest(package.parent / "script.py")}) == 3


def test_modules_that_import_each_other_are_followed_once(package):
    edit(package / "base.py", "LIMIT = 3", "import tiny.near\nLIMIT = 3")
    before = digest(package.parent / "script.py")
    edit(package / "base.py", "3", "4")
    assert digest(package.parent / "script.py") != before


def test_other_files_count_by_their_text(package):
    lock = package.parent / "lock.txt"
    lock.write_text("numpy==2.0\n")
    before = digest(package.parent / "script.py", lock)
    assert before != digest(package.parent / "script.py")
    lock.write_text("numpy==2.0\n# a comment\n")
    assert digest(package.parent / "script.py", lock) != before
    lock.write_text("numpy==2.0\n")
    assert digest(package.parent / "script.py", lock) == before


def test_several_scripts_have_a_digest_of_all(package):
    script, other = package.parent / "script.py", package.parent / "other.py"
    other.write_text("import tiny.unused\n")
    before = digest(script, other)
    assert before not in (digest(script), digest(other))
    edit(package / "unused.py", "5", "6")
    assert digest(script, other) != before


def test_file_digests_are_sha256(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert file_digest(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


# ---- our own package


@pytest.mark.parametrize(
    ("pin", "counts"),
    [
        ("numpy==2.1", True),  # also where it is not imported
        ("PyYAML==7", True),  # names of packages are written in several ways
        ("matplotlib==4", False),
        ("ruff==2", False),
        ("snakemake==10", False),
        ("new==1", False),
    ],
)
def test_of_a_lock_only_what_results_depend_on_counts(package, pin, counts):
    lock = package.parent / "lock.txt"
    lock.write_text("numpy==2.0\nPyYAML==6\nmatplotlib==3\nruff==1\nsnakemake==9\n")
    script = package.parent / "script.py"
    before = code_digest(script, lock=lock)
    assert before != code_digest(script)
    name = pin.partition("==")[0]
    lines = [line for line in lock.read_text().splitlines() if not line.startswith(name)]
    lock.write_text("\n".join([*lines, pin]))
    assert (code_digest(script, lock=lock) != before) == counts


def test_a_package_that_draws_counts_where_it_is_imported(package):
    edit(package / "base.py", "LIMIT = 3", "import matplotlib.pyplot\nLIMIT = 3")
    forget()
    lock = package.parent / "lock.txt"
    digests = set()
    for version in (3, 4):
        lock.write_text(f"matplotlib=={version}\n")
        digests.add(code_digest(package.parent / "script.py", lock=lock))
    assert len(digests) == 2


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of this package that the digests are taken of."""
    folder = tmp_path / code_digests.PACKAGE.name
    shutil.copytree(code_digests.PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(code_digests, "PACKAGE", folder)
    yield folder
    forget()


# Scripts that print, or print a page on paper; no rule runs them.
PRINTING = {"changes", "plan", "print_report", "targets"}


def digests():
    """Script -> digest."""
    forget()
    return {path.stem: code_digest(path) for path in (ROOT / "workflow" / "scripts").glob("*.py")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "users"),
    first_fast(
        (
            "pruning/hard_concrete.py",
            {"prune", "prune_closed", "packing", "evaluate_controls", "sorting_prune", "extractive_prune"},
        ),  # all keep the components with the largest values
        ("data/languages/overlap/grammar.py", {"sentences", "encode", "minimal_pairs", "pretrain"}),
        ("common/atomic.py", {p.stem for p in (ROOT / "workflow" / "scripts").glob("*.py")} - PRINTING),
        # Values of settings are in a rule's params; a new setting of one figure reruns no other job.
        ("config/blocks.py", set()),
        ("common/progress.py", set()),
    ),
)
def test_a_change_reaches_the_scripts_that_use_it_and_no_others(copy, module, users):
    before = digests()
    (copy / module).write_text((copy / module).read_text() + "\nADDED = 1\n")
    after = digests()
    assert {name for name in before if after[name] != before[name]} - PRINTING == users


@pytest.mark.slow
def test_no_module_imports_in_a_way_that_digests_overlook():
    for path in [*code_digests.PACKAGE.rglob("*.py"), *(ROOT / "workflow" / "scripts").glob("*.py")]:
        nodes = ast.walk(ast.parse(path.read_text()))
        assert not any(isinstance(node, ast.ImportFrom) and node.level for node in nodes), f"{path}: relative import"
