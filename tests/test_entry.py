"""When heads enter, on frequencies and curves written by hand; entry's cells leave all other tables as they are."""

import numpy as np
import pandas as pd
import pytest
from amounts import amount, by_chance
from claim_tables import CONTEXT, RUN, core_rows, group_row, table
from mentions import mentions, raises
from test_degenerate import full_rows, run_rows

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis import statistics_further_runs as statistics
from heuristic_core.experiments.subnetworks.analysis.core import compute_core, compute_head_frequency
from heuristic_core.experiments.subnetworks.analysis.entry import (
    compute_entry,
    compute_entry_frequency,
    find_entry,
    find_half_step,
)
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, select_run
from heuristic_core.experiments.subnetworks.analysis.spread import compute_summary, compute_variance
from heuristic_core.experiments.subnetworks.figures import draw, figure_entry
from heuristic_core.stats.estimates import NotComputable
from heuristic_core.stats.verdicts import decide_verdict

STEPS = (10, 20, 30, 40)
ENTRY = CONTEXT.model_copy(update={"entry": STEPS, "entry_seeds": (91, 92, 93, 94)})


@pytest.mark.parametrize(
    ("shares", "step", "censored", "reason"),
    [
        ((0, 75, 75, 100), 20, False, None),
        ((75, 80, 0, 0), 10, True, None),
        ((80, 0, 90, 90), 30, False, None),
        ((80, 0, 80, 0), None, None, (75, 10, 30)),
        ((0, 0, 0, 100), None, None, (75, 40)),
        ((0, 74.9, 74.9, 50), None, None, (75,)),
        ((80, np.nan, 90, 90), None, None, (3, 20)),
        ((80, 90, np.nan, 90), 10, True, None),
        ((80, 0, np.nan, 0), None, None, (75, 10)),
    ],
)
def test_a_head_enters_at_the_first_of_two_steps_in_a_row(shares, step, censored, reason):
    result = find_entry(pd.Series(shares, index=STEPS).dropna(), STEPS)
    assert (result.get("entry_step"), result.get("censored")) == (step, censored)
    assert result["reason"] is None if reason is None else mentions(result["reason"], *reason)


def finetuning(*values, every=10):
    rows = [
        {"step": every * k, "subset": subset, "group": "ood", "family": "f", "accuracy": value + shift}
        for k, value in enumerate(values)
        for subset, shift in (("a", 5.0), ("b", -5.0))
    ]
    # all pairs of the other class right, so that J is OOD accuracy
    rows += [
        row | {"subset": "c", "group": "ood-entailment", "accuracy": 100.0} for row in rows if row["subset"] == "a"
    ]
    return table(
        "finetune_accuracy", [*rows, *({"step": row["step"], "group": "auc", "accuracy": 1.0} for row in rows)]
    )


def test_a_model_that_rejects_everything_has_no_j_yet():
    rows = finetuning(100, 10, 30, 70, 80)
    rejects = (rows["step"] == 0) & (rows["group"] == "ood-entailment")
    rows.loc[rejects, "accuracy"] = 0.0  # right out-of-domain: J is 0
    before = (rows["step"] == 10) & (rows["group"] == "ood-entailment")
    rows.loc[before, "accuracy"] = 20.0  # J is -70
    assert find_half_step(rows) == (pytest.approx(20 + 10 * 10 / 40), None)
    without = rows[rows["group"] != "ood-entailment"]
    step, reason = find_half_step(without)
    assert step is None and mentions(reason, "no J")


def test_half_of_the_last_value_is_found_between_evaluations():
    assert find_half_step(finetuning(5, 10, 30, 70, 80)) == (pytest.approx(20 + 10 * 10 / 40), None)
    assert find_half_step(finetuning(95, 60, 10, 70, 80))[0] == pytest.approx(20 + 10 * 30 / 60)  # for good
    assert find_half_step(finetuning(50, 60, 70))[0] == 0
    step, reason = find_half_step(finetuning(5, 5.0, 5.0), ["b", "c"])
    assert step is None and mentions(reason, "J")


def components(frequencies, seeds=ENTRY.entry_seeds, sparsity=0.3):
    """Table "components": head c is kept by the first `frequencies[step][c]` of the seeds. The MLP is always kept."""
    return table(
        "components",
        [
            {
                "step": step,
                "sparsity": sparsity,
                "seed": seed,
                "repeat": 0,
                "component": c,
                "name": f"0.{c}",
                "layer": 0,
            }
            | {"kind": "head", "head": c, "kept": k < count}
            for step, counts in frequencies.items()
            for c, count in enumerate(counts)
            for k, seed in enumerate(seeds)
        ]
        + [
            {"step": step, "sparsity": sparsity, "seed": seed, "repeat": 0, "component": 4, "name": "mlp 0", "layer": 0}
            | {"kind": "mlp", "head": None, "kept": True}
            for step in frequencies
            for seed in seeds
        ],
    )


COUNTS = {10: (4, 0, 1, 1), 20: (4, 1, 1, 1), 30: (4, 4, 2, 1), 40: (4, 3, 1, 0)}


def entry_runs(count=0, **fault):
    """Table "runs" of ENTRY. fault: columns of the first `count` seeds' runs at step 20."""
    rows = run_rows(steps=STEPS, sparsities=(0.3,), seeds=ENTRY.entry_seeds)
    faulty = ENTRY.entry_seeds[:count]
    return [row | (fault if row["step"] == 20 and row["seed"] in faulty else {}) for row in rows]


def analysed(counter=(1,)):
    marked = pd.DataFrame(
        [
            {"component": c, "group": group, "counter": c in counter and group == "ood"}
            for c in range(4)
            for group in ("id", "ood")
        ]
    )
    in_core = table("core", core_rows({0}, set()))
    frequency = compute_entry_frequency(components(COUNTS), table("runs", entry_runs()), in_core, ENTRY, marked)
    return frequency, compute_entry(frequency, finetuning(0, 10, 10, 50, 60), ENTRY)


def test_frequencies_are_of_the_parts_seeds_and_heads_alone():
    frequency, _ = analysed()
    assert frequency.pivot(index="step", columns="component", values="count").to_dict("index") == {
        step: dict(enumerate(counts)) for step, counts in COUNTS.items()
    }
    assert set(frequency["n"]) == {4} and set(frequency["kind"]) == {"head"}
    groups = frequency.drop_duplicates("component").set_index("component")["group"].to_dict()
    assert groups == {0: "core", 1: "counter", 2: "other", 3: "other"}
    more = pd.concat([components(COUNTS), components(COUNTS, seeds=(1, 2)), components({10: (0,) * 4}, sparsity=0.5)])
    again = compute_entry_frequency(more, table("runs", []), table("core", core_rows({0}, set())), ENTRY)
    pd.testing.assert_frame_equal(again.drop(columns="group"), frequency.drop(columns="group"))
    assert set(again["group"]) == {"core", "other"}


def test_without_counter_heuristic_heads_all_but_core_heads_are_others():
    frequency, result = analysed(counter=())
    assert set(frequency["group"]) == set(result["group"]) == {"core", "other"}
    tables = {"entry_frequency": frequency, "finetune_accuracy": finetuning(0, 10, 10, 50, 60)}
    figure, _ = draw("figure_entry", tables, Figure(), ENTRY)
    assert not any("counter" in text.get_text() for text in figure.legends[0].get_texts())


def test_entry_and_rise_of_each_head():
    result = analysed()[1].set_index("component")
    assert result["half_step"].tolist() == [25.0] * 4
    assert result.loc[0, ["entry_step", "censored"]].tolist() == [10, True]
    assert result.loc[1, ["entry_step", "censored"]].tolist() == [30, False]
    assert pd.isna(result.loc[2, "entry_step"]) and mentions(result.loc[2, "reason"], 75)
    assert result["rise"].tolist() == [0.0, 75.0, 12.5, -12.5]


def test_the_figure_shows_heads_their_groups_and_the_full_model():
    tables = {"entry_frequency": analysed()[0], "finetune_accuracy": finetuning(0, 10, 10, 50, 60)}
    figure, marks = draw("figure_entry", tables, Figure(), ENTRY)
    single = marks[marks["name"] == "0.1"]
    assert single["percent"].tolist() == [0.0, 25.0, 100.0, 75.0] and set(single["group"]) == {"counter"}
    whole = marks[marks["name"].isna() & (marks["step"] == 30)].set_index("group")["percent"]
    assert whole.to_dict() == {"core": 100.0, "counter": 100.0, "other": 37.5, "j": 50.0}
    (legend,) = figure.legends
    for text, name in zip(legend.get_texts(), ("core", "counter-heuristic", "other", "J", "enters"), strict=True):
        assert mentions(text.get_text(), name)
    entered = marks[marks["enters"].eq(True)]
    assert entered[["name", "step"]].values.tolist() == [["0.0", 10], ["0.1", 30]]
    head_map = figure.axes[1]
    assert [text.get_text() for text in head_map.get_yticklabels()] == ["0.0", "0.1", "0.2", "0.3"]
    (cells,), (dots,) = head_map.collections, head_map.lines
    drawn = cells.get_array().compressed().reshape(4, 4).tolist()
    assert drawn == [marks[marks["name"] == name]["percent"].tolist() for name in ("0.0", "0.1", "0.2", "0.3")]
    assert dots.get_xdata().tolist() == [10, 30]
    three = {name: pd.concat([rows.assign(ft_seed=seed) for seed in (1, 2, 3)]) for name, rows in tables.items()}
    figure, marks = draw("figure_entry", three, Figure(), ENTRY)
    assert len(figure.axes) == 2 * 3 + 1 and set(marks["ft_seed"]) == {1, 2, 3}  # and the colour bar
    with raises(ValueError, "figure_entry", "entry_frequency"):
        draw("figure_entry", tables | {"entry_frequency": tables["entry_frequency"].iloc[:0]}, Figure(), ENTRY)


def test_rows_of_many_other_heads_are_thin_and_those_of_the_core_are_not():
    names = [str(k) for k in range(200)]
    heads = pd.DataFrame({"name": names, "group": ["core", "counter"] + ["other"] * 198})
    rows = figure_entry._list_rows(heads)
    assert [row.name for row in rows if row.name] == names and sum(row.name is None for row in rows) == 3
    assert sum(row.height for row in rows) < figure_entry.MAX_OTHERS_HEIGHT + 6 * figure_entry.ROW_HEIGHT
    assert {row.height for row in rows if row.group != "other"} == {figure_entry.ROW_HEIGHT}


def make_evidence(rows):
    tables = {"runs": run_rows(), "core": core_rows({0}, set()), "group_accuracy": list(full_rows())}
    tables = {name: table(name, of_table) for name, of_table in tables.items()}
    return Evidence(ENTRY, select_run(tables | {"entry": rows}, RUN))


@pytest.mark.parametrize("fault", [{"collapsed": True}, {"missed": True}])
def test_runs_that_did_not_go_well_say_nothing_of_entry(fault):
    in_core = table("core", core_rows({0}, set()))
    single, double = (
        compute_entry_frequency(components(COUNTS), table("runs", entry_runs(count, **fault)), in_core, ENTRY)
        for count in (1, 2)
    )
    at = single[single["step"] == 20].set_index("component")
    assert set(at["n"]) == {3} and at["count"].tolist() == [3, 0, 0, 0]  # the first seed kept most
    assert set(single.loc[single["step"] != 20, "n"]) == {4} and set(double.loc[double["step"] == 20, "n"]) == {2}
    curve = finetuning(0, 10, 10, 50, 60)
    result = compute_entry(single, curve, ENTRY).set_index("component")
    assert result.loc[0, "entry_step"] == 10 and result.loc[0, "censored"] and result["before_half"].tolist()[0]
    result = compute_entry(double, curve, ENTRY).set_index("component")
    assert result["entry_step"].isna().tolist() == [True, True, True, True]
    assert mentions(result.loc[0, "reason"], 3, 20) and mentions(result.loc[1, "reason"], 3, 20)
    assert pd.isna(result.loc[0, "before_half"]) and pd.isna(result.loc[1, "before_half"])
    assert not result.loc[2, "before_half"] and mentions(result.loc[2, "reason"], 75)
    assert result["rise"].tolist() == [0.0, 87.5, 12.5, -12.5]
    with raises(NotComputable, 4, 2, 3):
        statistics.early_core_heads(make_evidence(compute_entry(double, curve, ENTRY)))


def many(entries, half=25.0, layers=1):
    """Heads, the same in each layer: group, entry step (None: never) and rise."""
    rows = [
        {"component": k, "name": f"0.{k}", "kind": "head", "layer": k // len(entries), "head": k, "half_step": half}
        | {"group": group, "entry_step": step, "before_half": step is not None and step < half}
        | {"rise": rise, "censored": step == STEPS[0]}
        for k, (group, step, rise) in enumerate(entries * layers)
    ]
    return table("entry", rows)


EARLY = [("core", 10, 0.0), ("other", 10, 0.0), *[("other", 30, 0.0)] * 5, ("other", None, 0.0)]


def test_early_core_heads_are_compared_with_random_heads_of_their_layers():
    result = statistics.early_core_heads(make_evidence(many(EARLY)))
    assert result.value == pytest.approx(2 / 8, abs=0.02) and result.opposite == 1
    assert result.min_attainable_p == 1 / 8 and decide_verdict(result, "p < 0.05") == "too few"  # a core of one head
    assert mentions(result.detail, "0.0", 10, 7, 1)
    three = statistics.early_core_heads(make_evidence(many(EARLY, layers=3)))
    assert three.value == pytest.approx(1 / 64, abs=0.005) and decide_verdict(three, "p < 0.05") == "supported"
    late = [(group, 30 if group == "core" else 10, 0.0) for group, _, _ in EARLY]
    assert (
        decide_verdict(statistics.early_core_heads(make_evidence(many(late, layers=2))), "p < 0.05") == "contradicted"
    )
    away = pd.concat([many(EARLY), many([("other", 10, 0.0)] * 8).assign(layer=1)])  # a layer without the core
    assert statistics.early_core_heads(make_evidence(away)).value == result.value


@pytest.mark.parametrize("half", [5.0, 10.0, 40.1])
def test_entry_is_not_compared_with_a_half_that_no_checkpoint_surrounds(half):
    """At the first step or before it, a censored head entered before half or not; beyond the last one all are early."""
    with raises(NotComputable, f"step {half:.0f}", 10, 40):
        statistics.early_core_heads(make_evidence(many(EARLY, half)))
    assert statistics.early_core_heads(make_evidence(many(EARLY, 10.1))).value < 0.5
    assert statistics.early_core_heads(make_evidence(many(EARLY, 40.0))).value < 1.1


@pytest.mark.slow
@pytest.mark.sampled
def test_a_core_drawn_by_chance_is_rarely_early():
    """Type I error: cores of two heads of each of three layers, drawn without regard to entry."""
    draws, result = np.random.default_rng(1), []
    heads = many([("other", 10, 0.0)] * 4 + [("other", 30, 0.0)] * 4, layers=3)
    for _ in range(count := amount(1000)):
        chosen = [8 * layer + head for layer in range(3) for head in draws.permutation(8)[:2]]
        groups = np.where(heads["component"].isin(chosen), "core", "other")
        estimate = statistics.early_core_heads(make_evidence(heads.assign(group=groups)))
        result.append((estimate.value < 0.05, estimate.opposite < 0.05))
    assert np.sum(result, axis=0).max() <= by_chance(count)


def test_cells_of_entry_change_no_table_of_the_grid():
    """Subnetworks and accuracies of entry's seeds beside those of the grid, at a step of the grid and at another."""
    grid = pd.concat(
        [components({30: (4, 3, 1, 0)}, (1, 2, 3, 4), s) for s in (0.3, 0.5)]
        + [components({10: (2, 1, 0, 0)}, (1, 2), 0.5)]
    )
    more = pd.concat([grid, components({30: (0, 0, 0, 4), 20: (4, 4, 0, 0)}, ENTRY.entry_seeds, 0.3)])
    for make in (compute_core, compute_head_frequency):
        pd.testing.assert_frame_equal(make(more, ENTRY), make(grid, ENTRY))
    rows = [group_row(50.0 + seed, g, s, seed) for g in ("id", "ood") for s in (0.3, 0.5) for seed in (1, 2, 3, 4)]
    rows += list(full_rows())
    others = [group_row(5.0, "ood", 0.3, seed) | {"step": step} for seed in ENTRY.entry_seeds for step in (20, 30)]
    grid_alone, both = (table("group_accuracy", of) for of in (rows, rows + others))
    accuracy = [of.drop(columns="subsets").assign(subset="a", family=None) for of in (grid_alone, both)]
    for make in (compute_summary, compute_variance):
        pd.testing.assert_frame_equal(make(accuracy[1], both, ENTRY), make(accuracy[0], grid_alone, ENTRY))
