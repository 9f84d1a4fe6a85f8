"""The documentation: its reference of the configuration is up to date, its links lead somewhere, versions agree."""

import re
import subprocess
import sys
import tomllib

import pytest
import yaml
from conftest import ROOT

from heuristic_core.config.claims import load_claims
from heuristic_core.config.reference import find_unit, list_sections, render_reference, render_row
from heuristic_core.experiments.reference import list_references
from heuristic_core.experiments.registry import EXPERIMENT_FOLDERS, load_experiment
from heuristic_core.report.settings import read_study
from heuristic_core.tables.parquet import read_rows

FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("words", list_references(), ids=lambda words: words.page)
def test_the_reference_of_the_configuration_is_up_to_date(words):
    page = (ROOT / "docs" / words.page).read_text()
    assert page == render_reference(words), "run: python -m heuristic_core.experiments.reference docs"


@pytest.mark.parametrize("words", list_references(), ids=lambda words: words.page)
def test_every_key_has_a_meaning_and_every_number_a_unit(words):
    for section in list_sections(words):
        for name, field in section.block.model_fields.items():
            key, kind, _, _, meaning = render_row(section, name)
            assert meaning, key
            if "integer" in kind or "number" in kind:
                assert find_unit(field) is not None, key


def test_every_experiment_has_a_page_of_its_settings():
    assert len(list_references()) == len(EXPERIMENT_FOLDERS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_links_of_pages_outside_the_site_lead_somewhere(file):
    linked = [target for target in LINK.findall(file.read_text()) if "://" not in target]
    assert not [target for target in linked if not (ROOT / target).exists()]


def test_a_target_in_a_command_is_not_taken_for_a_configuration():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    commands = [line for page in pages for line in page.read_text().splitlines() if "snakemake --" in line]
    assert len(commands) > 20
    assert not [line for line in commands if re.search(r"--configfile( +[\w./-]+\.yaml)+ +[a-z_]\w*(?![\w./-])", line)]


def test_every_page_of_the_site_is_in_its_contents():
    contents = yaml.safe_load(re.sub(r"!!python/\S+", "", (ROOT / "mkdocs.yml").read_text()))["nav"]
    listed = re.findall(r"[\w/-]+\.md", str(contents))
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(page for page in pages if "/tables/" not in page)


def test_pages_are_short():
    """Without the generated pages of settings. A word has a letter or a digit: bars of tables have none."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "tables" not in path.parts]
    texts = [path.read_text() for path in pages if not path.stem.startswith("configuration")]
    assert len(texts) > 20 and sum(bool(re.search(r"\w", word)) for text in texts for word in text.split()) <= 25_000


def test_the_version_is_the_same_everywhere():
    """pyproject.toml has it; what cannot read that file repeats it."""
    version = PYPROJECT["project"]["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version
    assert re.search(r"^## \[?([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version


@pytest.mark.slow
def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path):
    pytest.importorskip("material")
    command = ["build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run([sys.executable, "-m", "mkdocs", *command], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    pages = {path: path.read_text() for path in tmp_path.rglob("*.html")}
    assert tmp_path / "index.html" in pages
    for path, text in pages.items():
        loaded = re.findall(r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="(https?:[^"]+)"', text)
        assert not loaded, path


@pytest.mark.parametrize(
    "folder", sorted((ROOT / "docs" / "studies").glob("*/tables/claims.parquet")), ids=lambda path: path.parts[-3]
)
def test_verdicts_in_the_documentation_are_of_the_present_claims(folder):
    """A claim that is added, withdrawn or worded anew must be judged again where verdicts are published."""
    rows = read_rows(folder)
    experiment = load_experiment(read_study(folder.parents[1] / "study.json")["settings"])
    stated = {(claim.claim, claim.sentence) for claim in load_claims(experiment.claims)}
    assert {(row["claim"], row["sentence"]) for row in rows} == stated
