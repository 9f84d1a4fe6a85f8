"""The plan of a list-sorting study: operations counted term by term, hours at the measured rate, and shares to do."""

import re
from collections import Counter
from itertools import combinations

import pytest
import torch
from amounts import first_fast
from conftest import ROOT
from list_sorting import TINY
from planning import parse_time

from heuristic_core.config.reading import read_config, read_merged_configs
from heuristic_core.experiments.list_sorting import halves, mode_ablation, model
from heuristic_core.experiments.list_sorting.config import Data, Model
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.llc import estimate_llc
from heuristic_core.experiments.list_sorting.measuring import Sample, measure_checkpoint
from heuristic_core.experiments.list_sorting.plan import format_plan
from heuristic_core.experiments.list_sorting.pruning import mask_rows, subset_rows
from heuristic_core.experiments.list_sorting.stages import MIN_STEPS
from heuristic_core.experiments.list_sorting.statistics_llc import bracket_stage
from heuristic_core.experiments.list_sorting.study import parse_sorting, select_evenly, select_trained_steps
from heuristic_core.experiments.list_sorting.training import train
from heuristic_core.experiments.list_sorting.work import (
    MEASURED_RATE,
    Passes,
    count_parameters,
    count_work,
    forward_operations,
    operations_per_second,
)

STUDY = parse_sorting(read_config(ROOT / "config" / "list-sorting.yaml"))


def test_operations_are_those_of_every_product():
    data, model = Data(numbers=7, length=3, held_out_lists=2), Model(heads=2, width=5, head_width=4)
    tokens, products = 7, 0
    for _head in range(2):
        products += 2 * tokens * 5 * 4  # keys and values
        for at in range(3, 6):  # the separator, and the sorted numbers but for the last
            products += 5 * 4 + 2 * (at + 1) * 4 + 4 * 5  # query; scores and their mean of values; what is written
    products += 3 * 5 * 8  # logits of 7 numbers and the separator
    assert forward_operations(data, model) == 2 * products


def test_weights_are_those_of_the_public_model():
    """49,684 with gains (2 x 96), their biases, and the biases of attention and unembedding."""
    biases = 2 * 2 * 96 + 3 * 2 * 48 + 96 + 52
    assert count_parameters(Data(), Model()) + biases == 49_684


def test_training_takes_the_measured_time():
    (train,) = [work for work in count_work(STUDY, "l2") if work.rule == "train"]
    training, (lists, seconds) = STUDY.training, MEASURED_RATE
    assert train.lists == len(training.seeds) * training.steps * training.batch_size
    assert train.operations / operations_per_second() == pytest.approx(train.lists / lists * seconds)


class Counted:
    """Counts the lists that pass through models, as :class:`Passes` does, while jobs run."""

    def __init__(self, monkeypatch):
        self.lists, attend, read_out = Counter(), model._attend, halves.read_out

        def attended(p, keys_values, *others):
            gradient = torch.is_grad_enabled() and keys_values.requires_grad
            self.lists["training" if gradient else "forward"] += keys_values.shape[0] * keys_values.shape[1]
            return attend(p, keys_values, *others)

        def read(p, residual, contexts):
            kind = "gate_training" if contexts.requires_grad else "readout"
            self.lists[kind] += residual.shape[0] * residual.shape[1]
            return read_out(p, residual, contexts)

        monkeypatch.setattr(model, "_attend", attended)
        monkeypatch.setattr(halves, "read_out", read)
        monkeypatch.setattr(mode_ablation, "read_out", read)

    def taken(self, models):
        """Of one model, since the last call."""
        result = Passes(**{name: count // models for name, count in self.lists.items()})
        self.lists.clear()
        return result


SMALL = TINY | {
    "experiment": "list-sorting",
    "study": "small",
    "measure": {"lists": 20, "mean_lists": 15, "folded_lists": 7, "matrices": 2},
    "llc": {"scaled": None, "batch_size": 9, "burn_in": 20, "draws": 5, "chains": 3, "half_step_chains": 2}
    | {"gradient_examples": 30, "checkpoints": 2, "checks": {"largest_rise": 1e6}},
    "prune": {"lists": 6, "training_lists": 11, "checkpoints": 2, "seeds": [1, 2]}
    | {"gates": {"rise": 3, "hold": 2, "batch_size": 8, "warmup_steps": 1}},
}


@pytest.mark.slow
@pytest.mark.parametrize("heads", first_fast(7, 1, 4))
def test_lists_are_those_that_jobs_put_through_models(heads, monkeypatch):
    """7 heads have too many halves for all their subsets to be evaluated."""
    study = parse_sorting(SMALL | {"model": TINY["model"] | {"heads": heads}})
    about, counted, result = study.condition_settings("base"), Counted(monkeypatch), {}
    drawn, kept, seeds = draw_lists(about.data), {}, about.training.seeds
    held_out, training = (make_sequences(part, about.data) for part in (drawn.held_out, drawn.train))
    train(about, drawn.train, lambda step, parameters: kept.update({step: parameters}) or [])
    result["train"] = counted.taken(len(seeds))

    settings = study.measure
    folded, matrix_steps = held_out[: settings.folded_lists], select_evenly(about.training.kept, settings.matrices)
    sample = Sample(held_out[: settings.lists], training[: settings.mean_lists], folded, about.data.numbers, 0)
    for step, parameters_ in kept.items():
        list(measure_checkpoint(parameters_, sample, seeds, step in matrix_steps))
    result["measure"] = counted.taken(len(seeds))

    for step in study.sampled_steps("base"):
        batch = lambda count, rng: training[torch.randint(len(training), (count,), generator=rng)]  # noqa: E731
        estimate_llc(model.compute_losses, kept[step], batch, study.llc, seeds)
    result["llc"] = counted.taken(len(seeds))

    tokens, pool = held_out[: study.prune.lists], training[: study.prune.training_lists]
    for step, parameters_ in kept.items():
        single = {name: value[:1] for name, value in parameters_.items()}
        means = halves.compute_half_means(single, pool)
        corners = halves.compute_corners(single, tokens, means)
        exact = subset_rows(single, corners, tokens)
        if step in select_trained_steps(about.training, study.prune.checkpoints):
            mask_rows(single, halves.compute_corners(single, pool, means), corners, tokens, exact, study.prune)
    result["prune"] = counted.taken(1)
    assert {work.rule: work.passes for work in count_work(study, "base")} == result


def test_the_plan_has_the_memory_of_every_job():
    """A job that draws its lists holds the numbers that each has left; more models need more."""
    memory = {name: {work.rule: work.memory for work in count_work(STUDY, name)} for name in STUDY.conditions}
    assert all(peak > 0.4e9 + 8 * 60_000 * 51 for peak in memory["l2"].values())
    more = STUDY.model_copy(update={"training": STUDY.training.model_copy(update={"seeds": list(range(8))})})
    larger = {work.rule: work.memory for work in count_work(more, "l2")}
    assert larger["measure"] > memory["l2"]["measure"] and larger["llc"] > memory["l2"]["llc"]
    text = format_plan(STUDY, Counter(), Counter())
    of_parts = [re.findall(r"^(\w+) +~0\.\d+$", part, re.MULTILINE) for part in text.split("\n\n")]
    assert ["train", "measure", "llc", "prune"] in of_parts


def test_conditions_have_the_work_that_they_ask_for():
    rules = {name: [work.rule for work in count_work(STUDY, name)] for name in STUDY.conditions}
    assert {name for name, result in rules.items() if "llc" in result} == {
        name for name in STUDY.conditions if STUDY.sampled_steps(name)
    }
    assert {name for name, result in rules.items() if "prune" in result} == set(STUDY.pruned_conditions)


@pytest.mark.parametrize("paths", [["list-sorting"], ["list-sorting/base", "list-sorting/decay"]])
def test_a_sampled_step_is_next_to_every_end_of_a_stage(paths):
    """A stage may begin and end at any kept step after step 0; claims look one kept step outside it at most."""
    study = parse_sorting(read_merged_configs([ROOT / "config" / f"{path}.yaml" for path in paths]))
    for name in study.conditions:
        if sampled := study.sampled_steps(name):
            kept = [step for step in study.condition_settings(name).training.kept if step]
            assert len(sampled) >= MIN_STEPS
            for start, end in combinations(kept, 2):
                low, high = bracket_stage(start, end, sampled, kept)
                assert low <= start < end <= high
    assert {"l2", "no-decay"} <= {name for name in study.conditions if study.sampled_steps(name)}  # with its control


def test_finished_jobs_are_no_time_to_do():
    wanted = Counter({f"train_{name}": 1 for name in STUDY.conditions} | {"measure": 4, "llc": 4, "prune": 2})
    missing = wanted - Counter({"train_l2": 1, "llc": 2})
    rows = [re.split(r"  +", line) for line in format_plan(STUDY, wanted, missing).splitlines()]
    of = {(row[0], row[1]): row[-2:] for row in rows if row[0] in ("train", "llc")}
    assert of["train", "l2"][1] == "0" and of["train", "numbers-101"][0] == of["train", "numbers-101"][1] != "0"
    whole, to_do = (parse_time(cell) for cell in of["llc", "l2"])
    assert to_do == pytest.approx(whole / 2, rel=0.01)
