"""The hours of a study on each GPU, and what a plan says that a study leaves out."""

import re

import pytest
from conftest import ROOT
from planning import BERT, HUNDRED, PAPER

from heuristic_core.config.reading import read_merged_configs
from heuristic_core.experiments.subnetworks.config import load_study, parse_study
from heuristic_core.experiments.subnetworks.experiment import EXPERIMENT
from heuristic_core.experiments.subnetworks.plan.pairs import Pairs, count_pairs
from heuristic_core.experiments.subnetworks.plan.report import estimate_work_hours
from heuristic_core.experiments.subnetworks.plan.work import estimate_work
from heuristic_core.plan.devices import DEFAULT_DEVICES
from heuristic_core.plan.gpus import compare_gpus, describe_gpus
from heuristic_core.plan.shapes import read_shape
from heuristic_core.plan.text import format_number, group_by_reason

AFTERNOON = parse_study(
    read_merged_configs([ROOT / "config" / name for name in ("paper-mnli-bert.yaml", "afternoon/mnli-bert.yaml")])
)
MNLI = HUNDRED._replace(train=Pairs(392702, 392702 * 40.0), evaluation=Pairs(49647, 49647 * 26.7))


def compare(study, data=MNLI):
    shape = read_shape(study.model)
    work = estimate_work(study, shape, data)
    return compare_gpus(lambda gpu: estimate_work_hours(study, shape, gpu, work))


def test_the_afternoon_takes_at_most_four_hours_of_the_gpu_that_was_measured():
    gpus = compare(AFTERNOON)
    hours = {name: sum(kinds.values()) for name, kinds in gpus.items()}
    assert list(gpus) == ["h100", "a100", "a5000"] and DEFAULT_DEVICES["cuda"] == "h100"
    assert set(gpus["h100"]) == {"measured"} and 1 < hours["h100"] < 4
    for name, peak in (("a100", 312), ("a5000", 111)):
        assert set(gpus[name]) == {"scaled from H100"}
        assert hours[name] / hours["h100"] == pytest.approx(989 / peak)


def test_the_paper_rests_mostly_on_timed_pruning_steps():
    gpus = compare(PAPER)
    assert {name: list(kinds) for name, kinds in gpus.items()} == {
        "h100": ["measured", "estimate"],
        "a100": ["scaled from H100", "estimate scaled from H100"],
        "a5000": ["published", "estimate"],
    }
    assert all(first > 9 * second for first, second in map(dict.values, gpus.values()))


def test_one_line_has_every_gpu():
    work = estimate_work(AFTERNOON, BERT, MNLI)
    (line,) = describe_gpus(lambda gpu: estimate_work_hours(AFTERNOON, BERT, gpu, work)).splitlines()
    assert line.count("~") == 3 and line.count("default") == 1
    assert line.index("h100") < line.index("measured") < line.index("a100") < line.index("a5000")


def test_what_a_study_leaves_out_is_grouped_by_reason():
    reasons = {"figure06": "figure06 needs a", "figure_cpr": "figure_cpr needs a", "table3": "table3 needs b"}
    assert group_by_reason(reasons) == {"needs a": ["figure06", "figure_cpr"], "needs b": ["table3"]}
    groups = list(group_by_reason(EXPERIMENT.list_unavailable(AFTERNOON)).values())
    assert ["figure06", "figure_cpr"] in groups and ["table_variance"] in groups


def test_the_page_has_the_hours_of_the_plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # without data
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    row = re.compile(r"^\| `paper-([\w-]+)`.*?" + r"\| ([\d.]+) " * 3 + r"\|$", re.MULTILINE)
    rows = row.findall((ROOT / "docs" / "paper.md").read_text())
    assert [name for name, *_ in rows] == ["afternoon", "mnli-bert", "qqp-bert", "mnli-roberta", "mnli-gpt2"]
    for name, *printed in rows:
        study = AFTERNOON if name == "afternoon" else load_study(ROOT / "config" / f"paper-{name}.yaml")
        hours = [sum(kinds.values()) for kinds in compare(study, count_pairs(study)).values()]
        assert printed == list(map(format_number, hours)), name
