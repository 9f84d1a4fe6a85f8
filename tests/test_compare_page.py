"""The page that compares two studies, and its command."""

import json
import re
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from compared_studies import make_three, side
from conftest import ROOT
from mentions import mentions, mentions_together, raises
from page_studies import CONTEXT, make_study, table
from pages import Page, check_source, needs_chromium, probe, rows, section
from reduced import snakemake
from test_scripts import script

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.analysis.chance import describe_outcome
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.report.sides import Side, load_side, parse_sides
from heuristic_core.stats.verdicts import CONTRADICTED, NOT_CLEAR, SUPPORTED
from heuristic_core.tables.parquet import read_table, write_table
from heuristic_core.tables.schemas import get_schema


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_three(tmp_path_factory.mktemp("work"))


def write_comparison(folder, monkeypatch, studies, name="compare"):
    monkeypatch.chdir(folder)
    arguments = ["--compare", studies, "--folder", f"results/{name}", "--log", f"results/{name}.log"]
    script("compare").main(arguments)
    return folder / "results" / name


def link_reports(folder, *names):
    for name in names:
        (folder / "results" / name / "report.html").touch()


def test_the_page_puts_both_side_by_side(folder, monkeypatch):
    link_reports(folder, "one", "other")
    out = write_comparison(folder, monkeypatch, "results/one results/other")
    page = check_source(out / "compare.html")
    assert len(page.all("img")) == 4  # figure02 of both, figure06 beside figure15
    assert mentions(page.text, "a: one, Figure 6", "b: other, Figure 15")
    disagree, core = rows(section(out / "compare.html", "claims"))[1:]
    assert core[2:5] == [f"? {NOT_CLEAR}", "–", f"✗ {CONTRADICTED}"] and mentions(core[5], "−4.5", "−5.5", "−3.5")
    assert disagree[2] == disagree[4] == f"✓ {SUPPORTED}" and disagree[1] != core[1]
    assert len(page.classes("differs")) == 1
    differences = rows(section(out / "compare.html", "differences"))
    assert ["1 and 1", "4", "6", "4", "3.0", "–", "0.0, 0.1, 0.2, 0.3"] in differences
    ood_row = next(row for row in differences if row[0] == "OOD")
    values = ("50.0", "45.0", "55.0"), ("57.0", "52.0", "62.0"), ("7.0", "−0.1", "14.1")
    assert all(mentions(cell, *numbers) for cell, numbers in zip(ood_row[1:4], values, strict=True))
    assert ood_row[4:] == ["200", "200", "pair"]
    frame = read_table(out / "differences.parquet")
    assert list(frame.columns) == get_schema("differences").names
    assert len(pd.read_csv(out / "differences.csv")) == len(frame)


def test_the_same_studies_give_the_same_bytes(folder, monkeypatch):
    first, second = (write_comparison(folder, monkeypatch, "results/one results/pair", name) for name in "xy")
    for name in ("compare.html", "differences.parquet", "differences.csv"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


@pytest.mark.slow
def test_settings_that_differ_are_shown(folder, monkeypatch):
    link_reports(folder, "one", "other")
    out = write_comparison(folder, monkeypatch, "results/one results/other", "alike")
    assert 'class="settings"' not in (out / "compare.html").read_text()
    path = make_study(folder / "results" / "changed", (1,)) / "study.json"
    values = json.loads(path.read_text())
    values["settings"]["grid"]["mid"], values["settings"]["device"] = 0.1, "cuda"
    path.write_text(json.dumps(values))
    link_reports(folder, "changed")
    out = write_comparison(folder, monkeypatch, "results/one results/changed", "settings")
    check_source(out / "compare.html")
    mid = load_study(ROOT / "config.yaml").grid.mid
    assert 'class="settings"' in (out / "compare.html").read_text()
    settings = rows(section(out / "compare.html", "settings"))
    assert settings[1:] == [["device", "cpu", "cuda"], ["grid.mid", f"{mid:g}", "0.1"]]


def test_figures_of_one_study_are_shown_once(folder, monkeypatch):
    link_reports(folder, "pair")
    out = write_comparison(folder, monkeypatch, "results/pair:1 results/pair:2", "runs")
    page = check_source(out / "compare.html")
    assert len(page.all("img")) == 2
    titles = [Page(title).text for title in re.findall(r"<h1>.*?</h1>", (out / "compare.html").read_text())]
    assert all(mentions(titles[0], "pair", seed) for seed in (1, 2))


@pytest.mark.slow
def test_a_model_at_chance_and_collapsed_runs_are_said_first_and_have_no_p(folder, monkeypatch):
    root = make_study(folder / "results" / "learned-nothing", (1,))
    runs = {"ft_seed": 1, "step": CONTEXT.last, "repeat": 0, "actual_sparsity": 0.5, "chance": 95.0, "missed": False}
    runs = [
        runs | {"sparsity": s, "seed": seed, "collapsed": s == CONTEXT.mid, "reason": "at chance"}
        for s in (CONTEXT.mid, CONTEXT.high)
        for seed in CONTEXT.seeds
    ]
    write_table("runs", table("runs", runs), root / "tables" / "runs.parquet")
    chance = {"ft_seed": 1, "step": CONTEXT.last, "n": 200, "accuracy": 95.0, "high": 97.0, "chance": 95.0}
    chance |= {"constant": "entailment", "outcome": "at chance"}
    write_table("chance", table("chance", [chance]), root / "tables" / "chance.parquet")
    link_reports(folder, "one", "learned-nothing")
    out = write_comparison(folder, monkeypatch, "results/one results/learned-nothing", "chance")
    check_source(out / "compare.html")
    page = (out / "compare.html").read_text()
    (warning,) = re.findall(r'<div class="warning".*?</div>', page, re.DOTALL)
    model_warning, runs_warning = (Page(line).text for line in re.findall(r"<p>.*?</p>", warning))
    assert describe_outcome(chance) in model_warning and mentions(model_warning, "learned-nothing", "b")
    assert mentions(runs_warning, 6) and mentions_together(runs_warning, 3, "collapsed")
    assert page.index(warning) < page.index('<section id="settings"')
    notes = re.findall(r"<p>.*?</p>", section(out / "compare.html", "differences"))
    assert any(mentions(note, 1, 3, CONTEXT.last, CONTEXT.mid, "collapsed") for note in notes)
    well = write_comparison(folder, monkeypatch, "results/one results/other", "well")
    assert 'class="warning"' not in (well / "compare.html").read_text()


@pytest.mark.slow
@needs_chromium
def test_the_page_fits_a_narrow_window_and_sorts(folder, monkeypatch, tmp_path):
    out = write_comparison(folder, monkeypatch, "results/one results/other", "narrow")
    result = probe(out / "compare.html", tmp_path, "#differences table", 1)
    assert result["needed"] <= result["width"] == 360
    assert result["faults"] == [] and [name for name in result["loads"] if not name.startswith("data:")] == []
    order, cells = result["orders"][0]
    assert order == "ascending" and [cell.split()[0] for cell in cells] == ["41.0", "50.0", "61.0", "95.0", "100.0"]


@pytest.mark.parametrize(
    ("studies", "named"),
    [
        ("results/one", ("compare", "'results/one'")),
        ("results/one results/one", ("compare", "'results/one results/one'")),
        ("results/one results/none", ("results/none",)),
        ("results/one results", ("results", "study.json")),
        ("results/one results/empty", ("results/empty", "accuracy")),
    ],
)
def test_what_cannot_be_compared_is_said(folder, monkeypatch, studies, named):
    monkeypatch.chdir(folder)
    Path("results/empty").mkdir(exist_ok=True)
    Path("results/empty/study.json").write_text("{}")
    with raises(InputError, *named):
        parse_sides(studies)


def test_an_unknown_run_and_a_faulty_context_are_named(folder, tmp_path):
    with raises(InputError, 3, 1, 2):
        side(folder, "pair", 3)
    root = make_study(tmp_path / "faulty", (1,))
    values = {"context": CONTEXT.model_dump(mode="json") | {"nonsense": 1}, "settings": {}}
    (root / "study.json").write_text(json.dumps(values))
    with raises(InputError, root / "study.json", "context", "nonsense"):
        load_side(Side(root, None))


@pytest.mark.slow
def test_the_command(folder):
    arguments = ["compare", "--config", "compare=results/one results/pair:2"]
    run = partial(snakemake, config=ROOT / "config.yaml", check=False)
    done = run(folder, *arguments)
    assert done.returncode == 0, done.stderr[-3000:]
    out = folder / "results" / "compare-one-pair-ft2"
    assert sorted(path.name for path in out.iterdir()) == [
        "compare.html", "differences.csv", "differences.parquet", "logs", "provenance",
    ]  # fmt: skip
    assert "Nothing to be done" in run(folder, *arguments).stderr
    path = folder / "results" / "one" / "tables" / "core.parquet"
    path.write_bytes(path.read_bytes())
    before = (out / "compare.html").stat().st_mtime_ns
    run(folder, *arguments)
    assert (out / "compare.html").stat().st_mtime_ns > before
    wrong = run(folder, "compare", "--config", "compare=results/one results/nowhere")
    assert wrong.returncode == 1 and mentions(wrong.stderr, "results/nowhere")
    usage = run(folder, "compare")
    assert usage.returncode == 1 and 'compare="results/a results/b"' in usage.stdout + usage.stderr
