"""The plan's trial of a schedule of pruning: gates by themselves, without a model."""

import re

import pytest
import yaml
from conftest import ROOT
from mentions import mentions
from planning import BERT, PAPER
from reduced import REDUCED

from heuristic_core.config.pruning import Prune
from heuristic_core.experiments.subnetworks.analysis.runs import END_SHARE, is_off_target
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.plan import schedule
from heuristic_core.experiments.subnetworks.plan.schedule import RECOMMENDED, warn_of_schedule
from heuristic_core.plan.shapes import read_shape
from heuristic_core.pruning.schedule_simulation import simulate_schedule

RATES = {
    "batch_size": 16, "log_alpha_mean": 2.0, "learning_rate": 0.2, "controller_learning_rate": 0.1,
    "weight_decay": 0.01, "controller_weight_decay": 0.01, "warmup_steps": 10, "decay": "from-start",
}  # fmt: skip


def missed(sparsity, size=36, **schedule):
    """Of twelve runs by themselves, how many miss their target."""
    ends = simulate_schedule(Prune(**RATES | schedule), size, sparsity, range(12), END_SHARE)
    return sum(is_off_target(sparsity - end, size) for end in ends)


@pytest.mark.slow
def test_the_schedule_that_reached_its_targets_does_so_alone_and_the_shorter_does_not():
    """docs/decisions/pruning-schedule.md: 10 of 12 missed with 210 + 90 steps, 4 with 300 + 300."""
    assert max(missed(sparsity, rise=300, hold=300) for sparsity in (0.4, 0.7)) <= 3
    assert min(missed(sparsity, rise=210, hold=90) for sparsity in (0.2, 0.8)) >= 7


def test_few_steps_close_next_to_no_gate():
    """40 steps: a few percent, whatever the target."""
    for sparsity in (0.1, 0.2, 0.4):
        ends = simulate_schedule(Prune(**RATES | {"rise": 27, "hold": 13}), 78, sparsity, (42, 43, 44), END_SHARE)
        assert max(ends) < 0.1


def test_a_trial_has_the_draws_of_its_seed_alone():
    settings = Prune(**RATES | {"rise": 20, "hold": 10, "gate_draws": 4})
    together, alone = (simulate_schedule(settings, 10, 0.4, seeds, END_SHARE) for seeds in ((1, 2), (2,)))
    assert alone == pytest.approx(together[1:], abs=1e-6)


def with_prune(study, **changes):
    return study.model_copy(update={"prune": study.prune.model_copy(update=changes)})


def test_the_plan_warns_of_a_schedule_that_misses_and_names_one_that_suits():
    study = load_study(REDUCED)
    warning = " ".join(warn_of_schedule(study, read_shape(study.model)).split())
    assert mentions(warning, 20, 40, "rise 300", "hold 300", "log_alpha_mean 2.0", "docs/pruning.md")


def test_no_schedule_that_suits_is_warned_of_and_none_that_is_not_tried():
    study = load_study(ROOT / "config.yaml")
    assert warn_of_schedule(study, read_shape(study.model)) is None
    assert warn_of_schedule(PAPER, BERT) is None  # 6,780 steps and more
    assert warn_of_schedule(with_prune(load_study(REDUCED), controller="expected"), BERT) is None


def test_the_recommended_schedule_is_never_warned_of_and_everywhere_the_same():
    example = re.search(r"^```yaml\n(.*?)^```$", (ROOT / "docs/own-task.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    assert yaml.safe_load(example)["prune"].items() >= RECOMMENDED.items()
    page = " ".join((ROOT / "docs/pruning.md").read_text().split())
    assert ", ".join(f"{name}: {value}" for name, value in RECOMMENDED.items()) in page
    for sparsity in (0.05, 0.1, 0.2, 0.5, 0.8):
        for more in ({}, {"hold": 350}, {"rise": 400, "hold": 400}):
            assert schedule._missed_ends(Prune(batch_size=16, **RECOMMENDED | more), 78, sparsity) == []


@pytest.mark.parametrize("decays", [0.0, 0.01])
def test_more_steps_at_the_same_rates_never_turn_a_good_schedule_into_a_bad_one(monkeypatch, decays):
    """Whatever a trial says: here gates swing about their target, and some ends happen to meet it."""

    def ends(settings, size, sparsity, seeds, end):
        tried.append((settings.rise, settings.hold))
        few = settings.rise + settings.hold <= 200
        swing = 0.2 if few else 0.1 * ((settings.rise // 50 + 2 * settings.hold // 50) % 3 - 1)
        return [sparsity + swing for _ in seeds]

    tried = []
    monkeypatch.setattr("heuristic_core.pruning.schedule_simulation.simulate_schedule", ends)
    rates = RATES | {"weight_decay": decays, "controller_weight_decay": decays}
    grid = range(50, 451, 50)
    good = {
        (rise, hold): not schedule._missed_ends(Prune(**rates | {"rise": rise, "hold": hold}), 78, 0.2)
        for rise in grid
        for hold in grid
    }
    assert not all(good.values()) and any(good.values()) and max(tried) <= (450, 450)
    for (rise, hold), fine in good.items():
        if fine:
            assert all(good[more] for more in good if more[0] >= rise and more[1] >= hold)


@pytest.mark.slow
def test_the_schedules_that_contradicted_each_other_no_longer_do():
    """Without weight decay: 200 + 200 steps were fine, 200 + 250 and 300 + 300 were not."""
    rates = RATES | {"weight_decay": 0.0, "controller_weight_decay": 0.0}
    for steps in ({"rise": 200, "hold": 200}, {"rise": 200, "hold": 250}, {"rise": 300, "hold": 300}):
        assert schedule._missed_ends(Prune(**rates | steps), 78, 0.2) == []
    assert schedule._missed_ends(Prune(**rates | {"rise": 100, "hold": 50}), 78, 0.2)
