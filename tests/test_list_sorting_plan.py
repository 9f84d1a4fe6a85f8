"""The plan of a list-sorting study: operations counted term by term, hours at the measured rate, and shares to do."""

import re
from collections import Counter
from itertools import combinations

import pytest
from conftest import ROOT

from heuristic_core.config.reading import read_values
from heuristic_core.experiments.list_sorting.config import Data, Model
from heuristic_core.experiments.list_sorting.llc_stages import bracket
from heuristic_core.experiments.list_sorting.plan import MEASURED, forward, parameters, rate, report, work_of
from heuristic_core.experiments.list_sorting.stages import FEWEST
from heuristic_core.experiments.list_sorting.study import parse_sorting

STUDY = parse_sorting(read_values(ROOT / "config" / "list-sorting.yaml"))


def test_operations_are_those_of_every_product():
    data, model = Data(numbers=7, length=3, held_out_lists=2), Model(heads=2, width=5, head_width=4)
    tokens, products = 7, 0
    for _head in range(2):
        products += 2 * tokens * 5 * 4  # keys and values
        for at in range(3, 6):  # the separator, and the sorted numbers but for the last
            products += 5 * 4 + 2 * (at + 1) * 4 + 4 * 5  # query; scores and their mean of values; what is written
    products += 3 * 5 * 8  # logits of 7 numbers and the separator
    assert forward(data, model) == 2 * products


def test_weights_are_those_of_the_public_model():
    """49,684 with gains (2 x 96), their biases, and the biases of attention and unembedding."""
    biases = 2 * 2 * 96 + 3 * 2 * 48 + 96 + 52
    assert parameters(Data(), Model()) + biases == 49_684


def test_training_takes_the_measured_time():
    (train,) = [work for work in work_of(STUDY, "l2") if work.rule == "train"]
    training, (lists, seconds) = STUDY.training, MEASURED
    assert training.batch_size == lists and train.lists == len(training.seeds) * training.steps * lists
    assert train.operations / rate() == pytest.approx(len(training.seeds) * training.steps * seconds)


def test_conditions_have_the_work_that_they_ask_for():
    rules = {name: [work.rule for work in work_of(STUDY, name)] for name in STUDY.conditions}
    assert {name for name, found in rules.items() if "llc" in found} == {
        name for name in STUDY.conditions if STUDY.sampled(name)
    }
    assert {name for name, found in rules.items() if "prune" in found} == set(STUDY.pruned)


@pytest.mark.parametrize("config", ["list-sorting", "list-sorting-full"])
def test_a_sampled_step_is_next_to_every_end_of_a_stage(config):
    """A stage may begin and end at any kept step after step 0; claims look one kept step outside it at most."""
    study = parse_sorting(read_values(ROOT / "config" / f"{config}.yaml"))
    for name in study.conditions:
        if sampled := study.sampled(name):
            kept = [step for step in study.of(name).training.kept if step]
            assert len(sampled) >= FEWEST
            for start, end in combinations(kept, 2):
                low, high = bracket(start, end, sampled, kept)
                assert low <= start < end <= high
    assert {"l2", "no-decay"} <= {name for name in study.conditions if study.sampled(name)}  # with its control


def test_finished_jobs_are_no_hours_to_do():
    wanted = Counter({f"train_{name}": 1 for name in STUDY.conditions} | {"measure": 4, "llc": 4, "prune": 2})
    missing = wanted - Counter({"train_l2": 1, "measure": 2})
    rows = [re.split(r"  +", line) for line in report(STUDY, wanted, missing).splitlines()]
    of = {(row[0], row[1]): row[-2:] for row in rows if row[0] in ("train", "measure")}
    assert of["train", "l2"][1] == "0" and of["train", "numbers-101"][0] == of["train", "numbers-101"][1] != "0"
    hours, to_do = (float(cell.strip("~")) for cell in of["measure", "l2"])
    assert to_do == pytest.approx(hours / 2, rel=0.01)
