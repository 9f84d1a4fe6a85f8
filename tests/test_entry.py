"""When heads enter, on frequencies and curves written by hand; entry's cells leave all other tables as they are."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import CONTEXT, RUN, core_rows, group_row, table
from test_degenerate import full_rows, run_rows

from heuristic_core.analysis import statistics_further_runs as statistics
from heuristic_core.analysis.core import core, head_frequency
from heuristic_core.analysis.entry import entered, entry, entry_frequency, half_step
from heuristic_core.analysis.evidence import Evidence, of_run
from heuristic_core.analysis.spread import summary, variance
from heuristic_core.analysis.verdicts import verdict
from heuristic_core.config.analysis import Figure
from heuristic_core.figures import draw

STEPS = (10, 20, 30, 40)
ENTRY = CONTEXT.model_copy(update={"entry": STEPS, "entry_seeds": (91, 92, 93, 94)})
NEVER = "75 % of subnetworks keep the head"


@pytest.mark.parametrize(
    ("shares", "step", "censored", "reason"),
    [
        ((0, 75, 75, 100), 20, False, None),
        ((75, 80, 0, 0), 10, True, None),
        ((80, 0, 90, 90), 30, False, None),
        ((80, 0, 80, 0), None, None, f"{NEVER} at 10, 30 alone"),
        ((0, 0, 0, 100), None, None, f"{NEVER} at 40 alone"),
        ((0, 74.9, 74.9, 50), None, None, f"{NEVER} at no step"),
        ((80, np.nan, 90, 90), 30, False, None),
    ],
)
def test_a_head_enters_at_the_first_of_two_steps_in_a_row(shares, step, censored, reason):
    found = entered(pd.Series(shares, index=STEPS).dropna(), STEPS)
    assert (found.get("entry_step"), found.get("censored"), found["reason"]) == (step, censored, reason)


def finetuning(*values, every=10):
    rows = [
        {"step": every * k, "subset": subset, "group": "ood", "family": "f", "accuracy": value + shift}
        for k, value in enumerate(values)
        for subset, shift in (("a", 5.0), ("b", -5.0))
    ]
    return table(
        "finetune_accuracy", [*rows, *({"step": row["step"], "group": "auc", "accuracy": 1.0} for row in rows)]
    )


def test_half_of_the_last_value_is_found_between_evaluations():
    assert half_step(finetuning(5, 10, 30, 70, 80)) == (pytest.approx(20 + 10 * 10 / 40), None)
    assert half_step(finetuning(95, 60, 10, 70, 80))[0] == pytest.approx(20 + 10 * 30 / 60)  # for good
    assert half_step(finetuning(50, 60, 70))[0] == 0
    assert half_step(finetuning(5, 5.0, 5.0), ["b"]) == (
        None,
        "the full model has no OOD accuracy at the end of fine-tuning",
    )


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


def analysed(counter=(1,)):
    marked = pd.DataFrame(
        [
            {"component": c, "group": group, "counter": c in counter and group == "ood"}
            for c in range(4)
            for group in ("id", "ood")
        ]
    )
    in_core = table("core", core_rows({0}, set()))
    frequency = entry_frequency(components(COUNTS), in_core, ENTRY, marked)
    return frequency, entry(frequency, finetuning(0, 10, 10, 50, 60), ENTRY)


def test_frequencies_are_of_the_parts_seeds_and_heads_alone():
    frequency, _ = analysed()
    assert frequency.pivot(index="step", columns="component", values="count").to_dict("index") == {
        step: dict(enumerate(counts)) for step, counts in COUNTS.items()
    }
    assert set(frequency["n"]) == {4} and set(frequency["kind"]) == {"head"}
    groups = frequency.drop_duplicates("component").set_index("component")["group"].to_dict()
    assert groups == {0: "core", 1: "counter", 2: "other", 3: "other"}
    more = pd.concat([components(COUNTS), components(COUNTS, seeds=(1, 2)), components({10: (0,) * 4}, sparsity=0.5)])
    again = entry_frequency(more, table("core", core_rows({0}, set())), ENTRY)
    pd.testing.assert_frame_equal(again.drop(columns="group"), frequency.drop(columns="group"))
    assert set(again["group"]) == {"core", "other"}


def test_entry_and_rise_of_each_head():
    found = analysed()[1].set_index("component")
    assert found["half_step"].tolist() == [25.0] * 4
    assert found.loc[0, ["entry_step", "censored"]].tolist() == [10, True]
    assert found.loc[1, ["entry_step", "censored"]].tolist() == [30, False]
    assert pd.isna(found.loc[2, "entry_step"]) and found.loc[2, "reason"] == f"{NEVER} at no step"
    assert found["rise"].tolist() == [0.0, 75.0, 12.5, -12.5]


def test_the_figure_shows_heads_their_groups_and_the_full_model():
    tables = {"entry_frequency": analysed()[0], "finetune_accuracy": finetuning(0, 10, 10, 50, 60)}
    figure, marks = draw("figure_entry", tables, Figure(), ENTRY)
    single = marks[marks["name"] == "0.1"]
    assert single["percent"].tolist() == [0.0, 25.0, 100.0, 75.0] and set(single["group"]) == {"counter"}
    whole = marks[marks["name"].isna() & (marks["step"] == 30)].set_index("group")["percent"]
    assert whole.to_dict() == {"core": 100.0, "counter": 100.0, "other": 37.5, "ood": 50.0}
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "other heads", "counter-heuristic heads", "core heads", "full model's OOD accuracy"
    ]  # fmt: skip
    with pytest.raises(ValueError, match="figure_entry: no rows in table entry_frequency"):
        draw("figure_entry", tables | {"entry_frequency": tables["entry_frequency"].iloc[:0]}, Figure(), ENTRY)


def evidence_of(rows):
    tables = {"runs": run_rows(), "core": core_rows({0}, set()), "group_accuracy": list(full_rows())}
    tables = {name: table(name, of_table) for name, of_table in tables.items()}
    return Evidence(ENTRY, of_run(tables | {"entry": rows}, RUN))


def test_core_heads_that_enter_late_are_counted():
    on_time = analysed()[1]
    found = statistics.late_core_heads(evidence_of(on_time))
    assert (found.value, verdict(found, "< 1 head")) == (0, "supported")
    assert "0.0 enters at 10 or before" in found.detail
    assert (
        statistics.late_core_heads(evidence_of(on_time.assign(group="core"))).value == 3
    )  # one later than half, two never


def many(entries):
    """Heads of one layer: group, entry step (None: never) and rise."""
    rows = [
        {"component": k, "name": f"0.{k}", "kind": "head", "layer": 0, "head": k, "group": group, "entry_step": step}
        | {"half_step": 25.0, "rise": rise, "censored": False}
        for k, (group, step, rise) in enumerate(entries)
    ]
    return table("entry", rows)


def test_counter_heads_are_compared_with_the_core_and_with_others():
    heads = (
        [("core", 10, 0.0)] * 2 + [("counter", 30, 50.0)] * 4 + [("counter", None, 40.0)] + [("other", None, 1.0)] * 9
    )
    later = statistics.counter_entry(evidence_of(many(heads)))
    assert later.value == pytest.approx(1 / 21) and verdict(later, "p < 0.05") == "supported"
    rise = statistics.counter_rise(evidence_of(many(heads)))
    assert rise.value < 0.01 and "others +1.0" in rise.detail
    swapped = [(group, 40 if group == "core" else 10, -rise) for group, _, rise in heads]
    assert verdict(statistics.counter_entry(evidence_of(many(swapped))), "p < 0.05") == "not supported"
    assert verdict(statistics.counter_rise(evidence_of(many(swapped))), "p < 0.05") == "not supported"


def test_cells_of_entry_change_no_table_of_the_grid():
    """Subnetworks and accuracies of entry's seeds beside those of the grid, at a step of the grid and at another."""
    grid = pd.concat(
        [components({30: (4, 3, 1, 0)}, (1, 2, 3, 4), s) for s in (0.3, 0.5)]
        + [components({10: (2, 1, 0, 0)}, (1, 2), 0.5)]
    )
    more = pd.concat([grid, components({30: (0, 0, 0, 4), 20: (4, 4, 0, 0)}, ENTRY.entry_seeds, 0.3)])
    for make in (core, head_frequency):
        pd.testing.assert_frame_equal(make(more, ENTRY), make(grid, ENTRY))
    rows = [group_row(50.0 + seed, g, s, seed) for g in ("id", "ood") for s in (0.3, 0.5) for seed in (1, 2, 3, 4)]
    rows += list(full_rows())
    others = [group_row(5.0, "ood", 0.3, seed) | {"step": step} for seed in ENTRY.entry_seeds for step in (20, 30)]
    one, both = (table("group_accuracy", of) for of in (rows, rows + others))
    accuracy = [of.drop(columns="subsets").assign(subset="a", family=None) for of in (one, both)]
    for make in (summary, variance):
        pd.testing.assert_frame_equal(make(accuracy[1], both, ENTRY), make(accuracy[0], one, ENTRY))
