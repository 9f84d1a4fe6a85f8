"""The parts of a report: claims and their plots, numbers, tables, captions, gaps, settings, what ran."""

import re

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from mentions import mentions, raises
from page_studies import make_study
from test_scripts import loaded

from heuristic_core.common.durations import format_duration
from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.report.missing import collect_gaps
from heuristic_core.provenance import digests
from heuristic_core.report.claims import group_claims
from heuristic_core.report.exhibits import render_caption, target_label
from heuristic_core.report.render import format_interval, format_number, format_p
from heuristic_core.report.settings import group_settings, read_study
from heuristic_core.report.study import summarise_scripts
from heuristic_core.tables.parquet import read_rows


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return make_study(tmp_path_factory.mktemp("results") / "tiny")


def test_claims_of_one_run_are_shown_once(study):
    rows = [row for row in read_rows(study / "tables" / "claims.parquet") if row["ft_seed"] != 2]
    disagree, core = group_claims(rows)
    assert disagree.seeds == [] and core.seeds == []
    assert core.plot is None


def test_plots_place_estimates_between_their_edges(study):
    disagree, _ = group_claims(read_rows(study / "tables" / "claims.parquet"))
    assert disagree.plot["threshold"] == 6  # 20, the lowest; the highest is 78
    whole, first, second = disagree.plot["marks"]
    assert second["high"] == 94
    assert whole["estimate"] == pytest.approx(6 + 88 * (61.5 - 20) / (78 - 20), abs=0.01)
    assert first["low"] < first["estimate"] < first["high"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (np.nan, ""), (12, "12"), (0.0, "0"), (-7.26, "−7.3"), (1234.56, "1,234.6"), (0.05, "0.050"),
        (0.00012, "1.2e−04"), (100.0, "100.0"),
    ],
)  # fmt: skip
def test_numbers(value, text):
    assert format_number(value) == text


def test_a_number_has_the_decimals_of_the_largest_beside_it():
    assert format_number(0.889, 0.0, 2.04) == "0.9" and format_interval(0.0, 2.04, 0.889) == "0.0 to 2.0"
    assert format_number(0.889, None, 0.95) == "0.889" and format_number(-0.04, 3.0) == "0.0"


@pytest.mark.parametrize(
    ("p", "text"),
    [(None, ""), (0.0, "< 0.0001"), (9.9e-5, "< 0.0001"), (2e-4, "0.0002"), (0.0312, "0.031"), (1.0, "1.000")],
)
def test_p_values(p, text):
    assert format_p(p) == text


@pytest.mark.parametrize(
    ("verdict", "adjusted", "fails"),
    [("supported", 0.0499, False), ("supported", 0.05, True), ("not clear", 0.3, False), ("supported", None, False)],
)
def test_a_supported_claim_can_fail_when_p_is_adjusted(study, verdict, adjusted, fails):
    claim = group_claims(read_rows(study / "tables" / "claims.parquet"))[0]
    claim = claim._replace(overall=claim.overall | {"verdict": verdict, "p_holm": adjusted})
    assert claim.fails_adjusted == fails


def test_intervals_and_durations():
    assert format_interval(-1.0, 2.5) == "−1.0 to 2.5"
    assert format_interval(None, 2.5) == ""
    spelled = [format_duration(seconds) for seconds in (0.44, 59.7, 75, 7440)]
    assert spelled == ["0.4 s", "1 min 0 s", "1 min 15 s", "2 h 4 min"]


@pytest.mark.slow
def test_a_page_needs_nothing_that_draws():
    assert (
        loaded(
            "import heuristic_core.experiments.subnetworks.report.page;"
            "import heuristic_core.experiments.subnetworks.figures.table3",
            "matplotlib",
            "seaborn",
        )
        == []
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [("figure02", "Figure 2"), ("figure_core_seeds", "Figure: core seeds"), ("table_variance", "Table: variance")],
)
def test_labels(name, text):
    assert target_label(name) == text


def test_a_repeated_drawing_shares_its_caption():
    assert render_caption(("figure11", "figure05"), {"figure05": "Heads\nby count.\n"}, None) == "Heads by count."
    assert render_caption(("figure11", "figure05"), {"figure05": "No.", "figure11": "Own."}, None) == "Own."


@pytest.mark.parametrize("name", ["figure02", "figure12", "figure_counter_heads"])
def test_captions_name_the_heuristic_that_the_task_declares_and_none_else(name):
    captions = {name: (ROOT / "workflow" / "report" / "subnetworks" / f"{name}.rst").read_text()}
    declared = render_caption((name,), captions, {"task": {"heuristic": "negation"}})
    assert "negation" in declared and "overlap" not in declared and "{" not in declared
    for settings in (None, {}, {"task": {}}):
        plain = render_caption((name,), captions, settings)
        assert "OOD" in plain and not re.search("negation|overlap|  | ,|{", plain)


def test_gaps_are_gathered_by_reason():
    cell = {"ft_seed": 1, "step": 10, "sparsity": 0.5, "seed": 42, "repeat": 1, "accuracy": None, "reason": "failed"}
    rows = pd.DataFrame([cell | {"subset": name} for name in "abcdef"])
    (gap,) = collect_gaps(rows, None)
    ft_seed, step, where, what, count, reason = gap[1:]
    assert (ft_seed, step, count, reason) == (1, 10, 6, "failed")
    assert mentions(where, 0.5, 42, 2) and mentions(what, "a", "b", "c", "d", 2) and not mentions(what, "e")
    assert collect_gaps(rows.assign(accuracy=1.0), None) == collect_gaps(None, None) == []


def test_settings_are_lines():
    blocks = group_settings({"study": "s", "grid": {"seeds": [1, 2], "early": {"checkpoint": 3}}, "a": None})
    assert blocks == {
        "study": [("study", "s"), ("a", "null")],
        "grid": [("seeds", "[1, 2]"), ("early.checkpoint", "3")],
    }


def test_a_faulty_study_file_is_named(tmp_path):
    (tmp_path / "study.json").write_text('{"context": {}}')
    with raises(InputError, "study.json"):
        read_study(tmp_path / "study.json")


def test_seconds_are_summed_by_script_longest_first():
    records = [{"script": name, "seconds": seconds} for name, seconds in (("prune", 4), ("table3", 1.5), ("prune", 6))]
    assert summarise_scripts(records) == [("prune", 2, 10, 6), ("table3", 1, 1.5, 1.5)]
    assert summarise_scripts([]) == []


def test_versions_say_where_the_code_stands(tmp_path, monkeypatch):
    assert {"python", "numpy", "jinja2"} <= set(digests.package_versions())
    no_repository = digests.read_commit(tmp_path)
    monkeypatch.setenv("PATH", "")
    no_git = digests.read_commit(tmp_path)
    assert no_repository.sha is None and no_git.sha is None
    assert no_repository.reason in str(no_repository) and no_repository.reason != no_git.reason
