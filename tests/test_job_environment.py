"""What users' environments have and jobs do not take over: caches that cannot be written, settings of matplotlib."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from mentions import mentions
from reduced import REDUCED

from heuristic_core.jobs.environment import move_caches

SNAKEMAKE = [
    sys.executable,
    "-m",
    "snakemake",
    "--dry-run",
    "--quiet",
    "--configfile",
    str(REDUCED),
    "--snakefile",
    str(ROOT / "Snakefile"),
]
# What a user may have set; with usetex alone no figure can be drawn here.
SETTINGS = """
backend: nosuch
text.usetex: True
font.size: 30
font.family: serif
savefig.bbox: tight
savefig.dpi: 20
savefig.format: svg
figure.figsize: 2, 2
axes.prop_cycle: cycler('color', ['r', 'g'])
svg.hashsalt: mine
svg.fonttype: none
pdf.compression: 9
interactive: True
timezone: Asia/Tokyo
"""
DRAW = """
import sys
from heuristic_core.jobs.arguments import JobParser
JobParser("x").parse([])  # as every job does before it draws
sys.path.insert(0, sys.argv[1])
from drawn import CONTEXT, TABLES, settings
from heuristic_core.experiments.subnetworks.figures import draw, write
for name in ("figure02",):
    write(sys.argv[2], name, *draw(name, TABLES, settings(name), CONTEXT), settings(name))
"""


@pytest.mark.parametrize("home", ["/proc/nohome", "/dev/null/home"])
def test_caches_move_where_home_cannot_be_written_and_what_was_downloaded_is_still_found(tmp_path, monkeypatch, home):
    monkeypatch.setenv("HOME", home)
    monkeypatch.chdir(tmp_path)
    environment = {"HOME": home}
    assert mentions(move_caches(Path(home, ".cache", "snakemake"), environment), f"{home}/.cache/snakemake")
    caches = tmp_path / ".snakemake" / "caches"
    assert environment == {"HOME": home, "XDG_CACHE_HOME": str(caches), "MPLCONFIGDIR": str(caches / "matplotlib")}
    (tmp_path / "cache" / "huggingface").mkdir(parents=True)
    environment = {"HOME": home, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert move_caches(Path(home), environment)
    assert environment["HF_HOME"] == str(tmp_path / "cache" / "huggingface")


def test_caches_stay_where_they_can_be_written(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    environment = {"HF_HOME": "/none"}
    assert move_caches(tmp_path / ".cache" / "snakemake", environment) is None
    assert environment == {"HF_HOME": "/none"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables", [{"HOME": "/dev/null/home"}, pytest.param({"XDG_CACHE_HOME": "/proc/x"}, marks=pytest.mark.slow)]
)
def test_a_dry_run_needs_no_home(tmp_path, variables):
    done = subprocess.run(SNAKEMAKE, cwd=tmp_path, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (cache_line,) = [line for line in done.stderr.splitlines() if mentions(line, f"{tmp_path}/.snakemake/caches")]
    assert next(iter(variables.values())) in cache_line


def drawn(folder: Path, **variables: str) -> dict[str, bytes]:
    """The files of some figures, drawn in a process with such variables, in a folder with such settings."""
    command = [sys.executable, "-c", DRAW, str(ROOT / "tests"), str(folder / "study")]
    done = subprocess.run(command, cwd=folder, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in (folder / "study").rglob("*") if path.is_file()}


@pytest.mark.slow
def test_what_a_user_sets_for_matplotlib_changes_no_figure(tmp_path):
    folders = [tmp_path / name for name in ("plain", "here", "home", "named")]
    for folder in folders:
        folder.mkdir()
    plain, here, home, named = folders
    (here / "matplotlibrc").write_text(SETTINGS)
    (home / "matplotlib" / "stylelib").mkdir(parents=True)
    (home / "matplotlib" / "matplotlibrc").write_text(SETTINGS)
    (home / "matplotlib" / "stylelib" / "default.mplstyle").write_text("font.size: 40\n")
    (named / "mine").write_text(SETTINGS)
    figures = drawn(plain)
    assert len(figures) == 4
    assert drawn(here, XDG_CONFIG_HOME=str(home), MPLBACKEND="module://matplotlib_inline.backend_inline") == figures
    assert drawn(named, MATPLOTLIBRC=str(named / "mine"), MPLBACKEND="nosuch", DISPLAY=":9") == figures
