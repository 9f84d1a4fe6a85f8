"""What is said and drawn of lesioned fine-tuning, on tables by hand."""

import re
from collections import Counter

import numpy as np
import pytest
from amounts import by_chance
from families import CASES, make_model
from mentions import mentions, raises
from scipy import stats
from test_lesion import CONTEXT, RUN, head_rows

from heuristic_core.common.errors import InputError
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis import statistics_overlap
from heuristic_core.experiments.subnetworks.analysis.core import count_common_heads
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, select_run
from heuristic_core.experiments.subnetworks.analysis.lesions import compute_lesion_accuracy
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.figures import draw
from heuristic_core.experiments.subnetworks.figures.table_overlap import sheets
from heuristic_core.experiments.subnetworks.jobs.lesion_heads import select_lesion_heads
from heuristic_core.models.close_heads import close_heads
from heuristic_core.stats.estimates import DoesNotApply, FailedRuns, NotComputable
from heuristic_core.tables.parquet import as_frame, as_table
from heuristic_core.tables.schemas import get_schema


def table(name, rows):
    """Rows of a table, columns they lack null."""
    empty = dict.fromkeys(get_schema(name).names)
    return as_frame(as_table(name, [empty | RUN | row for row in rows]))


def evidence(**tables):
    return Evidence(CONTEXT, select_run({name: table(name, rows) for name, rows in tables.items()}, RUN))


def heads_tables(overlap, core):
    before = [{**row, "kind": "head"} for row in head_rows(*overlap)]
    after = [{**row, "in_core": row["component"] in core} for row in before]
    mlp = {"component": 12, "name": "mlp 0", "kind": "mlp", "layer": 0, "in_core": False}
    drop = [{name: value for name, value in row.items() if name != "overlap"} for row in after]
    return {"overlap_heads": before, "core": [*drop, mlp]}


def test_core_heads_among_overlap_heads_against_chance_within_layers():
    result = statistics_overlap.overlap_core(evidence(**heads_tables(overlap=[0, 1, 4], core=[0, 1, 8])))
    assert result.value == pytest.approx(1 / 6) and result.exact and result.n == 3  # of 4 over 2 pairs in layer 0
    assert mentions(result.detail, 2, 3, 12, 1)
    by_hand = stats.hypergeom.pmf(2, 4, 2, 2)
    assert result.value == pytest.approx(by_hand)
    for overlap, core, reason in (([0], [], NotComputable), ([], [0], DoesNotApply), (range(12), [0], DoesNotApply)):
        with pytest.raises(reason) as caught:
            statistics_overlap.overlap_core(evidence(**heads_tables(overlap, core)))
        assert caught.type is reason
    with raises(NotComputable, "overlap_heads"):
        statistics_overlap.overlap_core(evidence(core=heads_tables([0], [0])["core"]))


def test_layers_are_convolved():
    import pandas as pd

    layers, kept = pd.Series([0, 0, 1, 1]), pd.Series([True, False, True, False])
    assert count_common_heads(layers, kept, kept) == (2, 1.0, 0.25, 1.0)
    assert count_common_heads(layers, kept, ~kept) == (0, 1.0, 1.0, 0.25)


STEPS = (0, 10, 20, 30)
# Every model rejects all at first, which is right out-of-domain.
ID, OOD = (30, 95, 99, 100), {
    "none": (100, 2, 40, 60), "overlap": (100, 0, 3, 20), "random1": (100, 4, 30, 50), "random2": (90, 31, 44, 58)
}  # fmt: skip


def curve(ood, id_=ID, **more):
    return [
        {
            "step": step, "subset": subset, "group": group, "accuracy": float(value), **more,
            "low": value - 4.0, "high": value + 3.0, "unit": "pair", "units": 50,
        }
        for step, id_value, ood_value in zip(STEPS, id_, ood, strict=True)
        for subset, group, value in (("in", "id", id_value), ("a", "ood", ood_value - 2), ("b", "ood", ood_value + 2))
    ]  # fmt: skip


def lesions(names=("overlap", "random1", "random2"), ood=OOD, sizes=(3, 3, 3), reasons=(None, None, None)):
    return {
        "runs": [{"chance": 0.0}],
        "finetune_accuracy": curve(ood["none"]),
        "lesions": [
            {"lesion": name, "heads": [0] * size, "size": size, "reason": reason}
            for name, size, reason in zip(names, sizes, reasons, strict=False)
        ],
        "lesion_accuracy": [
            row
            for name, size in zip(names, sizes, strict=False)
            if size
            for row in curve(ood[name], lesion=name, heads=[0] * size, size=size)
        ],
    }


def with_entailment(tables):
    """Every model also gets all pairs of one other class right, so that J is OOD accuracy."""
    for name in ("finetune_accuracy", "lesion_accuracy"):
        right = {"subset": "c", "group": "ood-entailment", "accuracy": 100.0, "low": 98.0, "high": 100.0}
        tables[name] += [row | right for row in tables[name] if row["subset"] == "a"]
    return tables


def test_what_a_lesion_costs_is_judged_against_one_more_random_set():
    result = statistics_overlap.lesion_cost(evidence(**lesions()), "ood", 0.95)
    assert result.value == 20 - 54 and result.n == 2 and result.unit == "random lesions"
    assert (result.low, result.high) == (None, None)
    assert mentions(result.detail, 3, "ID", "100.0/100.0/100.0/100.0", "OOD", "60.0/20.0/50.0/58.0", "entailment", "J")
    with raises(NotComputable, "j"):
        statistics_overlap.lesion_cost(evidence(**lesions()), "j", 0.95)
    estimate = statistics_overlap.lesion_cost(evidence(**lesions(names=("overlap", "random1"))), "ood", 0.95)
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (-30, None, None, 1)
    fewer = statistics_overlap.lesion_cost(evidence(**lesions(sizes=(3, 2, 3))), "ood", 0.95)
    assert mentions(fewer.detail, "random1", 2) and not mentions(result.detail, "random1")


def test_an_interval_takes_39_random_lesions():
    """A lesion outside the range of 39 others: one in 20 by chance, whatever their distribution."""
    rng = np.random.default_rng(0)
    controls = rng.lognormal(size=(2000, 40))
    outside = 0
    for value, *others in controls:
        assert statistics_overlap._compare_with_controls(value, others[:38])[1:] == (None, None)
        difference, low, high = statistics_overlap._compare_with_controls(value, others)
        assert low <= difference <= high
        outside += low > 0 or high < 0
    assert outside <= by_chance(len(controls))


def test_a_lesion_that_rejects_every_pair_costs_j():
    """It has all OOD pairs right, and no entailed pair."""
    tables = lesions(ood=OOD | {"overlap": (100, 100, 100, 98)})
    for rows in (tables["finetune_accuracy"], tables["lesion_accuracy"]):
        entailed = [
            row | {"subset": "e", "group": "ood-entailment", "accuracy": 100.0 * (row.get("lesion") != "overlap")}
            for row in rows
            if row["subset"] == "a"
        ]
        rows += entailed
    result = evidence(**tables)
    assert statistics_overlap.lesion_cost(result, "ood", 0.95).value > 0
    assert statistics_overlap.lesion_cost(result, "j", 0.95).value == -2 - 54


def test_a_delay_starts_where_the_task_is_learned_and_ends_at_half_of_the_whole_model():
    """Half is 30 %: with all heads at step 20, random heads at 20 and 10, without overlap heads never."""
    result = statistics_overlap.lesion_delay(evidence(**with_entailment(lesions())), share=0.95)
    assert result.value == 30 - 15 and result.n == 2
    assert mentions(result.detail, "30.0", 30, 3, 20, 10)
    other = OOD | {"overlap": (100, 0, 3, 30), "random1": (0, 0, 0, 0)}
    late = statistics_overlap.lesion_delay(evidence(**with_entailment(lesions(ood=other))), share=0.95)
    assert late.value == 30 - (30 + 10) / 2 and mentions(late.detail, "30.0", 30, 3, 10)
    assert late.low is None  # the control would take longer: the difference is none to bound


def test_a_delay_is_of_j_and_not_of_answering_no():
    tables = with_entailment(lesions())
    for row in tables["lesion_accuracy"]:
        if row["lesion"] == "overlap":  # rejects every pair from step 20 on: right out-of-domain
            if row["group"] == "ood":
                row["accuracy"] = 100.0
            elif row["group"] == "ood-entailment":
                row["accuracy"] = 0.0
    delay = statistics_overlap.lesion_delay(evidence(**tables), share=0.95)
    assert mentions(delay.detail, "never") and delay.value == 30 - (20 + 10) / 2
    with raises(NotComputable, "J"):
        statistics_overlap.lesion_delay(evidence(**lesions()), share=0.95)


@pytest.mark.parametrize(
    ("ood", "percent"),
    [({name: (100, 5, 5, 5) for name in OOD if name != "none"}, "30.0"), ({"none": (100, 0, 0, 0)}, 0)],
)
def test_a_delay_needs_a_goal_that_something_reaches(ood, percent):
    with raises(DoesNotApply, percent):
        statistics_overlap.lesion_delay(evidence(**with_entailment(lesions(ood=OOD | ood))), share=0.95)


@pytest.mark.parametrize(
    ("sizes", "reasons", "named"),
    [
        ((0, 0, 0), ("none is", "none is", "none is"), ("overlap", "none is")),
        ((3, 0, 0), (None, "too few", "too few"), ("random1", "too few")),
    ],
)
def test_lesions_that_there_are_not_are_named_with_their_reason(sizes, reasons, named):
    with raises(NotComputable, *named):
        statistics_overlap.lesion_cost(evidence(**lesions(sizes=sizes, reasons=reasons)), "ood", 0.95)


def test_a_study_without_lesions_cannot_say():
    with raises(NotComputable, "lesion"):
        statistics_overlap.lesion_cost(evidence(finetune_accuracy=curve(OOD["none"])), "ood", 0.95)


def test_groups_that_are_not_evaluated_decide_nothing():
    def without(group):
        tables = lesions().items()
        return evidence(**{name: [row for row in rows if row.get("group") != group] for name, rows in tables})

    with raises(NotComputable, "out-of-domain"):
        statistics_overlap.lesion_cost(without("ood"), "ood", 0.95)
    with raises(NotComputable, "in-domain"):
        statistics_overlap.lesion_delay(without("id"), share=0.95)
    with raises(NotComputable, "in-domain"):
        statistics_overlap.lesion_cost(without("id"), "ood", 0.95)
    with raises(NotComputable, "id"):
        statistics_overlap.lesion_cost(without("id"), "id", 0.95)


def test_a_model_that_never_learns_the_task_generalises_neither():
    """It rejects every pair, which is right out-of-domain; without random heads the task is learned."""
    stuck = lesions(ood=OOD | {"overlap": (100, 100, 100, 100)})
    for row in stuck["lesion_accuracy"]:
        if row["lesion"] == "overlap" and row["group"] == "id":
            row["accuracy"] = 34.0
    with raises(FailedRuns, "overlap", "ID", "100.0/34.0/100.0"):
        statistics_overlap.lesion_cost(evidence(**stuck), "ood", 0.95)
    task = statistics_overlap.lesion_cost(evidence(**stuck), "id", 0.95)
    assert (task.value, task.low, task.high) == (-66, None, None)  # two random lesions agree, maybe by chance
    delay = statistics_overlap.lesion_delay(evidence(**with_entailment(stuck)), share=0.95)
    assert delay.value == 30 - 15 and mentions(delay.detail, "30.0", 30)


def test_tables_of_another_origin_may_lack_accuracies():
    tables = lesions()
    del tables["lesion_accuracy"]
    with raises(NotComputable, "lesion_accuracy"):
        statistics_overlap.lesion_cost(evidence(**tables), "ood", 0.95)


@pytest.mark.parametrize("name", ["banana", "random0", "random-1"])
def test_an_unknown_lesion_is_named(name):
    with raises(InputError, "lesion", repr(name), "overlap", "random1"):
        select_lesion_heads(name, [], 0, 1)


def test_heads_that_are_not_there_are_named():
    with raises(InputError, "7.0"):
        close_heads(make_model(next(iter(CASES))), [(7, 0)])


def test_a_run_without_a_lesion_has_an_empty_table():
    empty = as_frame(as_table("finetune_predictions", []))
    result = compute_lesion_accuracy(empty, {"lesion": "overlap", "heads": [], "size": 0}, Analysis())
    assert result.empty and list(result.columns) == get_schema("lesion_accuracy").names


def test_the_figure_has_a_line_for_every_model_and_says_how_many_heads_are_out():
    drawn = {name: table(name, lesions()[name]) for name in ("finetune_accuracy", "lesion_accuracy")}
    drawn = {name: rows.assign(low=rows["accuracy"] - 4, high=rows["accuracy"] + 4) for name, rows in drawn.items()}
    figure, marks = draw("figure_lesion", drawn, Figure(), CONTEXT)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["ID", "OOD", "OOD-entailment"]
    assert mentions(figure.axes[0].get_ylabel(), 1, 3)
    assert [len(ax.get_lines()) for ax in figure.axes] == [4, 4, 0]  # of the last group there is no subset here
    ood = marks[(marks["group"] == "ood") & (marks["lesion"] == "overlap")]
    assert ood["accuracy"].tolist() == list(OOD["overlap"])
    assert (ood["accuracy"] - ood["low"]).tolist() == pytest.approx([np.sqrt(32) / 2] * 4)
    drawn["lesion_accuracy"] = drawn["lesion_accuracy"][:0]
    figure, marks = draw("figure_lesion", drawn, Figure(), CONTEXT)
    assert set(marks["lesion"]) == {"none"}
    label = figure.axes[0].get_ylabel()
    assert mentions(label, 1) and not mentions(label, 3)


def test_the_table_has_overlap_heads_and_core_heads_the_keenest_first():
    tables = heads_tables(overlap=[0, 5], core=[5, 9])
    shares = {row["component"]: 0.01 * row["component"] for row in tables["overlap_heads"]}
    before = [row | {"share": shares[row["component"]], "uniform": 0.05, "n": 9} for row in tables["overlap_heads"]]
    core = [row | {"mid": 3, "high": 2, "n_mid": 3, "n_high": 3} for row in tables["core"]]
    drawn = {"overlap_heads": table("overlap_heads", before), "core": table("core", core)}
    _, marks = draw("table_overlap", drawn, Figure(), CONTEXT)
    assert len(marks) == 12 and marks["component"].tolist() == list(range(11, -1, -1))
    (sheet,) = sheets(marks)
    assert Counter(re.findall(r"\d+", sheet.title)) == {"1": 2, "2": 2, "12": 1}  # seed 1: 2 of 12, 1 of 2 in the core
    assert [column.split()[0] for column in sheet.columns[4:]] == ["mid", "high", "core"]  # no early subnetworks here
    assert [row[0] for row in sheet.rows] == ["2.1", "1.1", "0.0"]
    assert sheet.rows[1] == ["1.1", "5.0", "1.0", "yes", "3", "2", "yes"]
