"""Freezing, ordering and grafting: which weights a measured model has, and what it was taught."""

import pytest
import torch
from extractive import VOCABULARY, study

from heuristic_core.experiments.extractive_structures import freezing, grafting, localisation, ordering
from heuristic_core.experiments.extractive_structures.answers import mean_rank
from heuristic_core.experiments.extractive_structures.config import Sweep
from heuristic_core.experiments.extractive_structures.counterfactuals import contrast
from heuristic_core.experiments.extractive_structures.freezing import answer_rows, curve_rows, freezing_rows
from heuristic_core.experiments.extractive_structures.grafting import graft_rows
from heuristic_core.experiments.extractive_structures.jobs.made_up_sweep import made_up_sweep_rows
from heuristic_core.experiments.extractive_structures.localisation import (
    average_aligned,
    correlate_places,
    localisation_rows,
)
from heuristic_core.experiments.extractive_structures.ordering import LAST_STAGE, ORDERS, order_rows, split_parts
from heuristic_core.experiments.extractive_structures.parameters import init_parameters
from heuristic_core.experiments.extractive_structures.scores import compute_first_order
from heuristic_core.experiments.extractive_structures.setting import HOPS, Setting
from heuristic_core.experiments.extractive_structures.tokens import Queries, encode_examples, encode_queries
from heuristic_core.experiments.extractive_structures.training import Learner, teach

SETTINGS = study(finetuning={"epochs": 3, "learning_rate": 1e-2}).finetuning
SETTING = Setting(study().data, 1)
START = init_parameters(study().model, len(VOCABULARY), 1)
TESTED = study().data.cities


@pytest.fixture(scope="module")
def orders():
    return order_rows(START, SETTING.draw_made_up_facts().first, TESTED, SETTINGS, VOCABULARY, 1)


@pytest.mark.parametrize("name", HOPS)
def test_curves_begin_before_teaching_and_end_with_the_taught_model(name):
    taught = SETTING.encode_hop(name)
    rows, end = curve_rows(START, taught.facts, taught.parts, SETTINGS, 1)
    assert [(row["epoch"], row["part"]) for row in rows] == [
        (epoch, part) for epoch in range(4) for part in ("facts", "implications")
    ]
    assert rows[:2] == [{"epoch": 0} | row for row in answer_rows(START, taught.parts)]
    assert rows[-2:] == [{"epoch": 3} | row for row in answer_rows(end, taught.parts)]
    assert list_changed(START, end) == LAYERS


def list_changed(before, after) -> set[str]:
    return {name for name in before if not torch.equal(before[name], after[name])}


LAYERS = {name for name in START if name[0].isdigit()}


@pytest.mark.parametrize("hops, made_up", [("layers", "all"), ("all", "layers")])
def test_the_settings_say_which_weights_learn_hops_and_which_made_up_words(hops, made_up, monkeypatch):
    expected = {"layers": LAYERS, "all": set(START)}
    settings = SETTINGS.model_copy(update={"epochs": 1, "hop_weights": hops, "made_up_weights": made_up})
    changed = []

    def record(start, *arguments, **options):
        end = teach(start, *arguments, **options)
        changed.append(list_changed(start, end))
        return end

    for module in (freezing, grafting, localisation, ordering):
        monkeypatch.setattr(module, "teach", record)
    taught = SETTING.encode_hop("first")
    _, end = curve_rows(START, taught.facts, taught.parts, settings, 1)
    list(freezing_rows(START, end, taught.facts, taught.parts, settings, 1, 1))
    rest = expected[hops] - LAYERS
    frozen = [rest | {name for name in LAYERS if name[0] == layer} for layer in "10"] + ([rest] if rest else [])
    assert changed == [expected[hops], *frozen]
    changed.clear()
    made = SETTING.draw_made_up_facts()
    stages = order_rows(START, made.first, TESTED, settings, VOCABULARY, 1).stages
    grafts = graft_rows(START, made, stages, settings, VOCABULARY, 1)
    localisation_rows(grafts.fact_weights, grafts.implication_weights, made.first, TESTED, settings, VOCABULARY, 1)
    assert len(changed) == 8 + 2 + 1 and all(names == expected[made_up] for names in changed)


def test_frozen_and_restored_layers_have_their_former_weights():
    taught = SETTING.encode_hop("first")
    _, end = curve_rows(START, taught.facts, taught.parts, SETTINGS, 1)
    result = list(freezing_rows(START, end, taught.facts, taught.parts, SETTINGS, 1, 1))
    assert len(result) == 4 * 2 * 2

    def rows(how, layers):
        return [
            {name: row[name] for name in row if name not in ("how", "layers")}
            for row in result
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


def test_orders_teach_other_names_in_stages_and_test_facts_last(orders):
    made, epochs = SETTING.draw_made_up_facts().first, SETTINGS.epochs
    assert {order: len(stages) for order, stages in orders.stages.items()} == {
        order: len(steps) for order, steps in ORDERS.items()
    }
    assert len(orders.rows) == 8 * epochs * 4
    questions = {row["part"]: row["questions"] for row in orders.rows}
    assert questions == {part: TESTED if part.startswith("test") else 12 - TESTED for part in split_parts(made, TESTED)}
    parts = split_parts(made, TESTED)
    halves = SETTINGS.model_copy(update={"batch_size": SETTINGS.batch_size // 2})

    def taught(start, part, settings, stage):
        return teach(start, encode_examples(parts[part].sentences, VOCABULARY), settings, (f"facts first {stage}", 1))

    facts = taught(START, "facts", SETTINGS, 0)
    both = taught(facts, "implications", halves, 1)
    for expected, stage in zip((facts, both), orders.stages["facts first"], strict=True):
        assert all(torch.equal(expected[name], stage[name]) for name in START)
    end = taught(both, "test facts", SETTINGS, 2)
    last = {row["part"]: row["rank"] for row in orders.rows if row["order"] == "facts first"}
    assert last == {part: mean_rank(end, encode_queries(examples, VOCABULARY)) for part, examples in parts.items()}


def test_no_sentence_of_a_test_name_is_taught_before_the_last_stage():
    made = SETTING.draw_made_up_facts().first
    parts = split_parts(made, TESTED)
    names = {
        part: {sentence.prompt.rsplit(" ", 2 + part.endswith("implications"))[0] for sentence in parts[part].sentences}
        for part in parts
    }
    assert names["facts"] == names["implications"] and names["test facts"] == names["test implications"]
    assert len(names["facts"]) == 12 - TESTED and not names["facts"] & names["test facts"]
    assert LAST_STAGE == ("test facts",) and not {"test facts"} & {
        part for steps in ORDERS.values() for stage in steps for part in stage
    }


def test_a_graft_adds_what_one_model_learned_to_another(orders):
    made = SETTING.draw_made_up_facts()
    result = graft_rows(START, made, orders.stages, SETTINGS, VOCABULARY, 1)
    rows = result.rows
    assert [row["weights"] for row in rows] == [w for w in ("none", "graft", "control") for _ in range(3)]
    assert {row["questions"] for row in rows} == {12 - TESTED}
    first, second = (split_parts(version, TESTED) for version in made)

    def taught(start, questions, purpose):
        return teach(start, encode_examples(questions.sentences, VOCABULARY), SETTINGS, (purpose, 1))

    fact_weights = orders.stages["facts first"][0]
    implication_weights = taught(fact_weights, first["implications"], "implications of known facts")
    assert all(torch.equal(result.implication_weights[name], implication_weights[name]) for name in START)
    other = taught(START, second["facts"], "second facts")
    unknowing = orders.stages["implications first"][0]
    for place, (a, b) in {0: (START, START), 3: (implication_weights, fact_weights), 6: (unknowing, START)}.items():
        grafted = {name: other[name] + (a[name] - b[name]) for name in START}
        asked_of = (second["facts"], second["implications"], first["implications"])
        expected = [mean_rank(grafted, encode_queries(item, VOCABULARY)) for item in asked_of]
        assert [row["rank"] for row in rows[place : place + 3]] == expected


def test_localisation_correlates_what_implications_taught_with_what_processes_other_facts(orders):
    made = SETTING.draw_made_up_facts()
    grafts = graft_rows(START, made, orders.stages, SETTINGS, VOCABULARY, 1)
    result = localisation_rows(
        grafts.fact_weights, grafts.implication_weights, made.first, TESTED, SETTINGS, VOCABULARY, 1
    )
    parts = split_parts(made.first, TESTED)
    facts = encode_examples(parts["test facts"].sentences, VOCABULARY)
    end = teach(grafts.implication_weights, facts, SETTINGS, ("facts of localisation", 1))
    stored = contrast(
        grafts.fact_weights, grafts.implication_weights, encode_queries(parts["implications"], VOCABULARY), 1, 1
    )
    read = contrast(grafts.implication_weights, end, encode_queries(parts["test implications"], VOCABULARY), 1, 1)
    a, b = compute_first_order(stored)["informative"].mean(0), compute_first_order(read)["downstream"].mean(0)
    tokens, layers, heads = len(["Ada", "Doe", "zong", "is", "the"]), 2, 2
    rank_sources = {
        "facts_rank": (end, "test facts"),
        "implications_rank": (grafts.implication_weights, "implications"),
    }
    for name, (model, part) in rank_sources.items():
        queries = encode_queries(parts[part], VOCABULARY)
        assert {row[name] for row in result} == {mean_rank(model, queries)}
    for row, part, n in zip(result, (slice(None, -1), slice(-1, None)), (heads, 1), strict=True):
        pooled = [scores[..., part].flatten(1) for scores in (a, b)]
        within = [scores - scores.mean(1, keepdim=True) for scores in pooled]
        for name, pair in {"r_pooled": pooled, "r": within}.items():
            r = torch.corrcoef(torch.stack(pair).flatten(1))[0, 1]
            assert row[name] == pytest.approx(float(r), abs=1e-6)
        assert row["n"] == tokens * layers * n and row["reason"] is None


def test_tokens_alone_correlate_when_pooled_and_not_within_tokens():
    """Components are exchangeable at each token, and both scores are larger at the name and at the last token."""
    rng, shape = torch.Generator().manual_seed(0), (1000, 5, 4, 4)
    size = torch.tensor([0.0, 3.0, 0.0, 0.0, 2.0])[:, None, None]
    pairs = zip(*(size * (1 + 0.5 * torch.randn(shape, generator=rng)) for _ in range(2)), strict=True)
    rows = [correlate_places(*pair) for pair in pairs]
    means = {name: sum(row[name] for row in rows) / len(rows) for name in ("r", "r_pooled")}
    assert means["r_pooled"] > 0.6 and abs(means["r"]) < 0.03


def test_the_same_order_of_components_at_every_token_correlates_within_tokens():
    layers = torch.arange(4.0)[None, :, None].expand(5, 4, 1)
    stored, read = layers + torch.arange(5.0)[:, None, None], layers - 3 * torch.arange(5.0)[:, None, None]
    row = correlate_places(stored, read)
    assert row["r"] == pytest.approx(1) and row["r_pooled"] < 0
    single = correlate_places(stored[:, :1], read[:, :1])  # a component per token leaves nothing to compare
    assert single["r"] is None and single["reason"] and single["r_pooled"] < 0


def test_scores_of_longer_prompts_are_aligned_by_their_ends():
    of = Queries(
        torch.tensor([[5, 1, 8, 9], [5, 2, 9, 0]]), torch.tensor([3, 2]), torch.tensor([0]), torch.tensor([0, 0])
    )
    scores = torch.arange(8.0).view(2, 4, 1, 1)
    assert average_aligned(scores, of, [5, 2, 9]).flatten().tolist() == [(0 + 4) / 2, (2 + 5) / 2, (3 + 6) / 2]


@pytest.mark.slow
def test_a_sweep_has_a_run_of_orders_and_grafts_for_every_setting(orders):
    made, sweep = (
        SETTING.draw_made_up_facts(),
        Sweep(learning_rates=[SETTINGS.learning_rate, 2e-2], epochs=[1, SETTINGS.epochs]),
    )
    result = list(made_up_sweep_rows(START, made, SETTINGS, sweep, VOCABULARY, 1))
    assert len(result) == 4 * (3 * 2 + 3 * 3)
    chosen_rows = [
        row for row in result if (row["learning_rate"], row["epochs"]) == (SETTINGS.learning_rate, SETTINGS.epochs)
    ]
    grafts = graft_rows(START, made, orders.stages, SETTINGS, VOCABULARY, 1)
    ends = {(r["order"], r["part"]): r["rank"] for r in orders.rows} | {
        (r["weights"], r["part"]): r["rank"] for r in grafts.rows
    }
    assert all(row["rank"] == ends[row["model"], row["part"]] for row in chosen_rows)


class Killed(Exception):
    pass


@pytest.mark.parametrize("kills", [[4], [11, 2, 9], [1, 17]])
def test_teaching_that_is_killed_and_goes_on_ends_with_the_same_bytes(orders, tmp_path, monkeypatch, kills):
    made, settings = SETTING.draw_made_up_facts(), SETTINGS.model_copy(update={"save_every": 1})

    def job():
        result = order_rows(START, made.first, TESTED, settings, VOCABULARY, 1, tmp_path)
        grafts = graft_rows(START, made, result.stages, settings, VOCABULARY, 1, tmp_path)
        fact_weights, implication_weights = grafts.fact_weights, grafts.implication_weights
        places = localisation_rows(
            fact_weights, implication_weights, made.first, TESTED, settings, VOCABULARY, 1, tmp_path
        )
        return result, grafts.rows, places

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
    result, grafts, places = job()
    expected = graft_rows(START, made, orders.stages, SETTINGS, VOCABULARY, 1)
    assert result.rows == orders.rows and grafts == expected.rows
    arguments = (expected.fact_weights, expected.implication_weights, made.first, TESTED, SETTINGS, VOCABULARY, 1)
    assert places == localisation_rows(*arguments)
    for order, stages in result.stages.items():
        for stage, expected in zip(stages, orders.stages[order], strict=True):
            assert all(torch.equal(stage[name], value) for name, value in expected.items())
    made_steps.clear()
    job()
    assert made_steps == []  # all stages are there, the second facts of grafting too
