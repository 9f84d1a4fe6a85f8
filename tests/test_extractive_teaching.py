"""Freezing, ordering and grafting: which weights a measured model has, and what it was taught."""

import pytest
import torch
from extractive import VOCABULARY, study

from heuristic_core.experiments.extractive_structures.answers import mean_rank
from heuristic_core.experiments.extractive_structures.freezing import answer_rows, curve_rows, freezing_rows
from heuristic_core.experiments.extractive_structures.model import initial
from heuristic_core.experiments.extractive_structures.ordering import ORDERS, graft_rows, order_rows
from heuristic_core.experiments.extractive_structures.setting import HOPS, Setting
from heuristic_core.experiments.extractive_structures.tokens import asked, examples
from heuristic_core.experiments.extractive_structures.training import Learner, teach

SETTINGS = study(finetuning={"epochs": 3, "learning_rate": 1e-2}).finetuning
SETTING = Setting(study().data, 1)
START = initial(study().model, len(VOCABULARY), 1)
TESTED = study().data.cities


@pytest.fixture(scope="module")
def orders():
    return order_rows(START, SETTING.made_up().first, TESTED, SETTINGS, VOCABULARY, 1)


@pytest.mark.parametrize("name", HOPS)
def test_curves_begin_before_teaching_and_end_with_the_taught_model(name):
    taught = SETTING.taught(name)
    rows, end = curve_rows(START, taught.facts, taught.parts, SETTINGS, 1)
    assert [(row["epoch"], row["part"]) for row in rows] == [
        (epoch, part) for epoch in range(4) for part in ("facts", "implications")
    ]
    assert rows[:2] == [{"epoch": 0} | row for row in answer_rows(START, taught.parts)]
    assert rows[-2:] == [{"epoch": 3} | row for row in answer_rows(end, taught.parts)]
    assert {name for name in START if not torch.equal(START[name], end[name])} == {n for n in START if n[0].isdigit()}


def test_frozen_and_restored_layers_have_their_former_weights():
    taught = SETTING.taught("first")
    _, end = curve_rows(START, taught.facts, taught.parts, SETTINGS, 1)
    found = list(freezing_rows(START, end, taught.facts, taught.parts, SETTINGS, 1, 1))
    assert len(found) == 4 * 2 * 2

    def rows(how, layers):
        return [
            {name: row[name] for name in row if name not in ("how", "layers")}
            for row in found
            if (row["how"], row["layers"]) == (how, layers)
        ]

    def composed(*from_start):
        return {name: START[name] if name.startswith(from_start) else value for name, value in end.items()}

    late = teach(START, taught.facts, SETTINGS, ("facts", 1), {name for name in START if name.startswith("0.")})
    for how in ("frozen", "restored"):
        assert rows(how, "none") == answer_rows(end, taught.parts)
        assert rows(how, "all") == answer_rows(START, taught.parts)
    assert rows("restored", "early") == answer_rows(composed("0."), taught.parts)
    assert rows("restored", "late") == answer_rows(composed("1."), taught.parts)
    assert rows("frozen", "late") == answer_rows(late, taught.parts)


def test_orders_teach_everything_but_the_tested_implications(orders):
    made, epochs = SETTING.made_up().first, SETTINGS.epochs
    assert {order: len(stages) for order, stages in orders.stages.items()} == {
        order: len(steps) for order, steps in ORDERS.items()
    }
    assert len(orders.rows) == 5 * epochs * 3
    questions = {row["part"]: row["questions"] for row in orders.rows}
    assert questions == {"facts": 12, "taught implications": 12 - TESTED, "test implications": TESTED}
    facts = teach(START, examples(made.facts.sentences, VOCABULARY), SETTINGS, ("facts first 0", 1))
    learnt = examples(made.implications.sentences[TESTED:], VOCABULARY)
    both = teach(facts, learnt, SETTINGS, ("facts first 1", 1))
    for expected, stage in zip((facts, both), orders.stages["facts first"], strict=True):
        assert all(torch.equal(expected[name], stage[name]) for name in START)
    last = [row["rank"] for row in orders.rows if row["order"] == "facts first" and row["part"] == "facts"][-1]
    assert last == mean_rank(both, asked(made.facts, VOCABULARY))


def test_a_graft_adds_what_one_model_learned_to_another(orders):
    made = SETTING.made_up()
    rows = graft_rows(START, made, orders.stages, SETTINGS, VOCABULARY, 1)
    assert [row["weights"] for row in rows] == [w for w in ("none", "graft", "control") for _ in range(3)]
    assert {row["questions"] for row in rows} == {12 - TESTED}
    second = teach(START, examples(made.second.facts.sentences, VOCABULARY), SETTINGS, ("second facts", 1))
    knows, learned = orders.stages["facts first"]
    grafted = {name: second[name] + (learned[name] - knows[name]) for name in START}
    parts = {"facts": asked(made.second.facts, VOCABULARY)}
    others = parts["facts"].of(torch.arange(TESTED, 12))
    assert rows[3]["part"] == "facts" and rows[3]["rank"] == mean_rank(grafted, others)
    nothing = {"facts first": [START, START], "implications first": [START, START]}
    same = graft_rows(START, made, nothing, SETTINGS, VOCABULARY, 1)
    ranks = [[row["rank"] for row in same if row["weights"] == weights] for weights in ("none", "graft", "control")]
    assert ranks[0] == ranks[1] == ranks[2]


class Killed(Exception):
    pass


@pytest.mark.parametrize("kills", [[4], [11, 2, 9], [1, 17]])
def test_teaching_that_is_killed_and_goes_on_ends_with_the_same_bytes(orders, tmp_path, monkeypatch, kills):
    made, settings = SETTING.made_up(), SETTINGS.model_copy(update={"save_every": 1})

    def job():
        found = order_rows(START, made.first, TESTED, settings, VOCABULARY, 1, tmp_path)
        return found, graft_rows(START, made, found.stages, settings, VOCABULARY, 1, tmp_path)

    advance, made_steps = Learner.advance, []
    for steps in kills:
        left = iter(range(steps))

        def until_killed(self, *batch, left=left):
            if next(left, None) is None:
                raise Killed
            made_steps.append(self.step)
            return advance(self, *batch)

        monkeypatch.setattr(Learner, "advance", until_killed)
        with pytest.raises(Killed):
            job()
    monkeypatch.setattr(Learner, "advance", lambda self, *batch: made_steps.append(self.step) or advance(self, *batch))
    found, grafts = job()
    assert found.rows == orders.rows and grafts == graft_rows(START, made, orders.stages, SETTINGS, VOCABULARY, 1)
    for order, stages in found.stages.items():
        for stage, expected in zip(stages, orders.stages[order], strict=True):
            assert all(torch.equal(stage[name], value) for name, value in expected.items())
    made_steps.clear()
    job()
    assert made_steps == []  # all stages are there, the second facts of grafting too
