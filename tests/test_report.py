"""The report of a study: what it says, that it needs nothing but itself, and how it behaves in a browser."""

import base64
import csv
import io

import pandas as pd
import pytest
from conftest import ROOT
from mentions import mentions, mentions_together, raises
from page_studies import CONTEXT, accuracy_rows, claim_rows, make_study, size_rows, table
from pages import Page, check_source, needs_chromium, pdf_pages, probe, rows, section, tiles
from test_scripts import script

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.figures import build_sheets
from heuristic_core.experiments.subnetworks.report.page import collect_warnings
from heuristic_core.figures.targets import target_files
from heuristic_core.report.findings import PHRASES
from heuristic_core.stats.estimates import DOES_NOT_APPLY
from heuristic_core.stats.seeds import PRUNING_SEEDS
from heuristic_core.stats.verdicts import CONTRADICTED, NOT_CLEAR, SUPPORTED, VERDICT_MEANINGS
from heuristic_core.tables.parquet import read_rows, write_table

TARGETS = ("figure02", "figure06", "table3")


def write_report(root, *more):
    captions = [ROOT / "workflow" / "report" / "subnetworks" / f"{name}.rst" for name in TARGETS]
    arguments = ["--root", root, "--context", CONTEXT.model_dump_json(), "--settings", root / "study.json"]
    arguments += ["--claims", root / "tables" / "claims.parquet", "--captions", *captions, "--targets", *TARGETS]
    arguments += ["--report", root / "report.html", "--log", root / "report.log", *more]
    script("report").main([str(part) for part in arguments])
    return root / "report.html"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return make_study(tmp_path_factory.mktemp("results") / "tiny")


@pytest.fixture(scope="module")
def report(study):
    return write_report(study)


def test_the_page_holds_all_that_it_needs(report):
    page = check_source(report)
    figures = page.all("figure")
    assert [figure["id"] for figure in figures] == ["figure02", "figure06"]
    assert len(page.all("img")) == 2


def test_what_a_study_cannot_have_is_told_with_the_setting_that_gives_it(study, report):
    assert 'id="absent"' not in report.read_text()
    reason = "figure06 needs at least 2 of grid.checkpoints, this study has 1"
    absent = section(write_report(study, "--absent", reason, "another"), "absent")
    assert reason in absent and mentions(absent, "another")
    write_report(study)


def test_the_page_names_what_misleads_where_the_task_declares_it(study, report):
    assert "word overlap" in check_source(report).text
    described = (study / "study.json").read_text()
    try:
        (study / "study.json").write_text(described.replace('"heuristic": "word overlap", ', ""))
        text = check_source(write_report(study)).text
        assert "word overlap" not in text
    finally:
        (study / "study.json").write_text(described)
        write_report(study)


def test_values_behind_the_marks_are_in_the_page(report, study):
    links = {a["download"]: a["href"] for a in check_source(report).all("a") if "download" in a}
    assert set(links) == {f"tiny-{name}.csv" for name in TARGETS}
    content = base64.b64decode(links["tiny-figure02.csv"].partition(",")[2])
    assert content == (study / "figures" / "figure02.csv").read_bytes()
    assert next(csv.reader(io.StringIO(content.decode())))[0] == "study"


def test_claims_are_one_table_with_verdicts_by_seed_intervals_and_thresholds(report):
    ids = [attributes.get("id") for _, attributes in check_source(report).tags]
    assert ids.index("claims") < ids.index("figure02")
    assert any(mentions(tile, 1, 2, PHRASES.get(NOT_CLEAR, NOT_CLEAR)) for tile in tiles(report))
    disagree, *_, core = claim_rows((1, 2), NOT_CLEAR)
    (sentence, verdicts, estimates, *more), (_, verdict, *_) = rows(section(report, "claims"))[1:3]
    assert mentions(sentence, disagree["sentence"], disagree["paper"])
    assert mentions(verdicts, "✓", 1, 2) and verdicts.count(SUPPORTED) == 3
    assert mentions(estimates, 61.5, "50.0", "73.0") and more == ["> 20", "0.004"]
    seed_row = rows(section(report, "claim-disagree", "article"))[3]
    assert seed_row[1:3] == [SUPPORTED, "73.0"] and mentions(seed_row[3], "68.0", "78.0")
    assert seed_row[4:] == ["–", "> 20", "12", PRUNING_SEEDS] and mentions(seed_row[0], 2)
    assert mentions(verdict, "?", NOT_CLEAR)
    assert mentions(Page(section(report, "claim-core", "article")).text, core["detail"], "> 0")


def with_runs(root, *kinds):
    """A study of four pruning runs, one for each of `kinds`: "", or the column of table "runs" that is true."""
    cell = {"ft_seed": 1, "step": 2200, "repeat": 0, "missed": False, "collapsed": False, "actual_sparsity": 0.35}
    runs = [
        cell | {"sparsity": 0.35 if seed < 3 else 0.5, "seed": seed} | ({kind: True, "reason": "so"} if kind else {})
        for seed, kind in enumerate(kinds, start=1)
    ]
    write_table("runs", table("runs", runs), make_study(root) / "tables" / "runs.parquet")
    return root


def test_what_went_wrong_with_pruning_runs_is_a_key_number(tmp_path):
    root = with_runs(tmp_path / "tiny", "collapsed", "collapsed", "missed", "")
    page = write_report(root)
    assert any(mentions(tile, 4, 2, 1) for tile in tiles(page)) and check_source(page).classes("faulty")
    of_mid, of_high = ["1", "2200", "35 %", "2", "0", "2", "0", "yes"], ["1", "2200", "50 %", "2", "0", "0", "1", "yes"]
    assert rows(section(page, "pruning"))[1:] == [of_mid, of_high]
    (warning,) = collect_warnings([root, tmp_path / "absent"])
    assert mentions(warning, "tiny", 4, 1, root / "report.html") and mentions_together(warning, 2, "collapsed")


@pytest.mark.slow
def test_where_all_went_well_nothing_is_said(tmp_path):
    root = with_runs(tmp_path / "tiny", "", "", "", "")
    page = check_source(write_report(root))
    assert not page.classes("warning") and not page.classes("faulty")
    assert collect_warnings([root]) == []


def test_verdicts_are_explained_and_what_was_not_run_is_listed(tmp_path):
    root = make_study(tmp_path / "tiny", verdict="does not apply")
    judged = read_rows(root / "tables" / "claims.parquet")
    test = {"threshold": "p < 0.05", "estimate": 0.98, "low": None, "high": None, "opposite": 0.01, "p": 0.02}
    more = [
        judged[-1] | test | {"claim": "a", "verdict": "contradicted", "family": None, "sentence": "A check"},
        judged[-1] | {"claim": "b", "verdict": "not run", "sentence": "Something else", "detail": "no table"},
    ]
    write_table("claims", [*more, *judged], root / "tables" / "claims.parquet")
    page = write_report(root)
    assert any(mentions(tile, 1, 2, PHRASES.get(DOES_NOT_APPLY, DOES_NOT_APPLY)) for tile in tiles(page))
    assert f"– {DOES_NOT_APPLY} {VERDICT_MEANINGS[DOES_NOT_APPLY]}" in Page(section(page, "claims")).text
    (check,) = rows(section(page, "claim-a", "article"))[1:]
    assert check[1] == CONTRADICTED and check[4:6] == ["0.020", "p < 0.05"]
    ids = [attributes.get("id") for _, attributes in check_source(page).tags]
    order = ["claims", "claim-core", "checks", "claim-a", "undecidable", "claim-b", "figure02"]
    assert sorted(order, key=ids.index) == order
    undecidable, text = Page(section(page, "undecidable")).text, check_source(page).text
    assert mentions(undecidable, "Something else", "no table") and text.count("Something else") == 1


def test_missing_values_settings_and_versions_are_listed(report):
    # Two fine-tuning seeds: one accuracy each, and sizes of three pruning seeds and their mean.
    assert mentions(section(report, "missing"), 10)
    _, accuracy, _, size, _ = rows(section(report, "missing"))
    (failed,) = (row["reason"] for row in accuracy_rows((1,), 0) if row["accuracy"] is None)
    (undefined,) = {row["reason"] for row in size_rows((1,), 0)} - {None}
    assert accuracy[:3] == ["accuracy", "1", "1000"] and accuracy[4:] == ["cn_if", "1", failed]
    assert size[1:4] == ["1", "1000", "ood"] and size[5:] == ["4", undefined]
    settings = rows(section(report, "settings"))
    assert ["folder", "checkpoints/mini-bert"] in settings and ["early.checkpoint", "100"] in settings
    assert mentions(section(report, "versions"), "python", "commit")


def test_data_are_counted_set_by_set(report):
    read = ["pairs.csv", "61,234", "5", "1,000", "0", "34", "0", "195", "60,000"]
    assert rows(section(report, "data"))[1:] == [
        ["train", "–", *read, "7", "–", "–", "–", "1.5", "0.0"],
        ["cn_if", "ood", *read, "0", "3", "1", "2", "1.5", "0.0"],
    ]


def test_tables_are_those_of_their_marks(study, report):
    (of_seed,) = build_sheets("table3", pd.read_parquet(study / "tables" / "table3.parquet"))
    assert of_seed.rows == [["none", "12.5", "−3.0"], ["head 0.1", "7.2", "1.5"], ["all core heads", "100.0", ""]]
    head, *table_rows = rows(section(report, "table3", "div"))
    assert head[1:] == ["ln_swap", "cn_if"] and table_rows == of_seed.rows


@pytest.mark.slow
def test_the_same_results_give_the_same_page(study, tmp_path):
    again = make_study(tmp_path / "tiny")
    assert write_report(again).read_text() == write_report(study).read_text()


def test_a_study_may_have_claims_alone(study, tmp_path):
    root = tmp_path / "bare"
    for path in ("study.json", "tables/claims.parquet", *(path.lstrip("/") for path in target_files("", "table3"))):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes((study / path).read_bytes())
    page = write_report(root, "--targets", "table3")
    assert "Table 3." in check_source(page).text and not check_source(page).all("figure")
    for name in ("missing", "data"):
        assert "<table" not in section(page, name)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (["--targets", "figure03"], ("figure03", "figure03.rst")),
        (["--targets", "figure15"], ("figures/figure15.pdf",)),  # its caption is figure06's
        (["--settings", "nowhere.json"], ("nowhere.json",)),
    ],
)
def test_what_is_absent_is_named(study, more, named):
    with raises(InputError, *named):
        write_report(study, *more)


@pytest.mark.slow
@needs_chromium
def test_in_a_narrow_window_nothing_hangs_over_and_tables_sort(report, tmp_path):
    result = probe(report, tmp_path, "#table3 table", 1)
    assert result["width"] == 360 and result["needed"] <= 360 and result["unfolded"] <= 360
    assert result["faults"] == [] and [name for name in result["loads"] if not name.startswith("data:")] == []
    assert result["orders"] == [
        ["ascending", ["7.2", "12.5", "100.0"]],
        ["descending", ["100.0", "12.5", "7.2"]],
        ["none", ["12.5", "7.2", "100.0"]],
    ]
    assert result["focused"]
    before, on_paper, after = result["folded"]
    assert before == on_paper == after > 0


@pytest.mark.slow
@needs_chromium
def test_minus_signs_sort_below_and_empty_cells_last(report, tmp_path):
    orders = probe(report, tmp_path, "#table3 table", 2)["orders"]
    assert [cells for _, cells in orders[:2]] == [["−3.0", "1.5", ""], ["1.5", "−3.0", ""]]


@pytest.mark.slow
@needs_chromium
def test_on_paper_only_open_folds_are_printed(report, tmp_path):
    unfolded = report.with_name("unfolded.html")
    unfolded.write_text(report.read_text().replace("<details>", "<details open>"))
    assert 1 <= pdf_pages(report, tmp_path) < pdf_pages(unfolded, tmp_path)
