"""The plan of a study of extractive structures: sentences counted job by job, and hours at the measured rate."""

import math
import re
from collections import Counter

import pytest
from conftest import ROOT
from extractive import study
from planning import parse_time

from heuristic_core.config.reading import read_config
from heuristic_core.experiments.extractive_structures.config import Model, Pretraining, parse_extractive
from heuristic_core.experiments.extractive_structures.needs import estimate_needs
from heuristic_core.experiments.extractive_structures.parameters import parameter_shapes
from heuristic_core.experiments.extractive_structures.plan import (
    MEASURED_PRETRAINING,
    count_forward_operations,
    count_parameters,
    count_work,
    estimate_hours,
    find_first_figure,
    format_plan,
    measured_rate,
)

STUDY = study()


def work(rule, of=STUDY):
    (result,) = [item for item in count_work(of) if item.rule == rule]
    return result


def test_weights_are_those_of_the_layers():
    model = STUDY.model
    layers = [shape for name, shape in parameter_shapes(model, 300).items() if name[0].isdigit()]
    total = 0
    for shape in layers:
        size = 1
        for side in shape:
            size *= side
        total += size
    assert count_parameters(model) == total


def test_pretraining_takes_the_measured_time():
    settings, (sentences, seconds) = Pretraining(), MEASURED_PRETRAINING
    assert sentences == settings.steps * settings.batch_size
    assert 3 * sentences * count_forward_operations(Model()) / measured_rate() == pytest.approx(seconds)
    assert work("pretrain").sentences == 2 * 3 * 6 * 16  # seeds, corpora, steps, batch


def test_sentences_are_counted():
    assert work("teach").sentences == 2 * 3 * 2 * 2 * (6 + 12)  # seeds, corpora, hops, epochs; taught and asked
    others, test = 6, 6
    orders, grafts, localisation = 3 * (2 * others + test), 2 * others, test
    assert work("order").sentences == 2 * 2 * (orders + grafts + localisation + 8 * 2 * 12)
    swept = study(sweep={"learning_rates": [1e-3, 2e-3], "epochs": [1, 3]})
    assert work("made_up_sweep", swept).sentences == 2 * 2 * (1 + 3) * (orders + grafts + 8 * 2 * 12)
    scored, replaced = 6 + 2 * 18, (2 * 18 + 2 * 6) * 6 * 10 // 2
    assert work("score").sentences == 2 * 2 * (
        2 * scored + replaced + 2 * 6 * 6
    )  # each component taken away, in two ways


def test_a_model_of_many_components_has_no_runs_for_each_of_them_and_each_token():
    large = study(model={"heads": 96, "width": 96})
    scored, components = 6 + 2 * 18, 2 * 97
    assert work("score", large).sentences == 2 * 2 * (2 * scored + 2 * 6 * components)
    eliminated = 2 * 2 * 2 * 6 * (6 + 5 + 4)  # seeds, hops, parts, questions; of six components three go
    assert work("prune").sentences - work("prune", large).sentences == eliminated


def test_finished_jobs_are_no_time_to_do():
    made = parse_extractive(read_config(ROOT / "config" / "extractive.yaml"))
    wanted = Counter({"pretrain": 6, "teach": 6, "freeze": 2, "order": 2, "score": 2})
    missing = wanted - Counter({"pretrain": 6, "score": 1})
    rows = [re.split(r"  +", line) for line in format_plan(made, wanted, missing).splitlines()]
    to_do = {row[0]: row[-2:] for row in rows if len(row) == 5 and row[0] in wanted}
    assert to_do["pretrain"][1] == "0" and to_do["order"][0] == to_do["order"][1] != "0"
    whole, half = (parse_time(cell) for cell in to_do["score"])
    assert half == pytest.approx(whole / 2, rel=0.02)


def test_the_first_figure_is_the_one_after_the_fewest_hours():
    assert find_first_figure(STUDY, {"pretrain": 3.0, "teach": 1.0, "order": 2.0}) == ("figure_ordering", 3.0)
    assert find_first_figure(STUDY, {"pretrain": 3.0, "teach": 1.0, "order": 4.0}) == ("figure_curves", 4.0)
    paper = parse_extractive(read_config(ROOT / "config" / "paper-extractive-olmo.yaml"))
    hours = estimate_hours(paper, "h100")
    assert find_first_figure(paper, hours) == ("figure_curves", hours["teach"])


def test_a_gpus_hours_are_those_of_its_rate_and_a_cluster_is_asked_for_those_of_the_slowest():
    paper = parse_extractive(read_config(ROOT / "config" / "paper-extractive-olmo.yaml"))
    hours = {gpu: estimate_hours(paper, gpu) for gpu in ("h100", "a100", "a5000")}
    assert hours["a100"]["order"] / hours["h100"]["order"] == pytest.approx(989 / 312)  # bfloat16
    assert hours["a100"]["score"] / hours["h100"]["score"] == pytest.approx(67 / 19.5)  # float32
    assert estimate_needs(paper)["order"].runtime == math.ceil(5 + 2 * 60 * hours["a5000"]["order"] / len(paper.seeds))
