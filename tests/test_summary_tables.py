"""Tables for reading that sum up accuracies, effective sizes and variances, from the synthetic tables."""

import numpy as np
import pandas as pd
import pytest
from drawn import filter_rows
from figure_tables import CONTEXT, SUBSETS
from mentions import mentions, raises

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.figures import condensed, draw, table_effective_size, table_variance
from heuristic_core.stats.means import mean_interval


def test_table5_is_the_summary_beside_the_full_model(tables, drawn):
    _, marks = drawn["table5"]
    row = filter_rows(marks, ft_seed=1, subset="ln_prep").iloc[0]
    cell = filter_rows(tables["accuracy"], ft_seed=1, sparsity=0.35, subset="ln_prep", repeat=0)["accuracy"]
    full = filter_rows(tables["accuracy"], ft_seed=1, seed=None, subset="ln_prep").iloc[0]
    statistics = [cell.min(), cell.max(), cell.mean(), cell.std(), *mean_interval(cell)[1:], 12]
    assert row[["min", "max", "mean", "sd", "low", "high", "n"]].tolist() == pytest.approx(statistics)
    assert row[["full", "full_low", "full_high"]].tolist() == full[["accuracy", "low", "high"]].tolist()
    assert len(marks) == 3 * len(SUBSETS) and set(marks["sparsity"]) == {0.35}


def test_table7_has_both_sparsities_of_every_group(drawn):
    _, marks = drawn["table7"]
    groups = ["id", "ood", "ood-entailment", "j", "auc"]
    assert [(row.sparsity, row.group) for row in filter_rows(marks, ft_seed=2).itertuples()] == [
        (sparsity, group) for sparsity in (0.35, 0.5) for group in groups
    ]


def test_tables_over_fine_tuning_seeds_stand_last_and_only_where_there_are_several(tables, drawn):
    _, marks = drawn["table7"]
    last = marks[marks["ft_seed"].isna()]
    assert marks["ft_seed"].isna().tolist() == [False] * 20 + [True] * 10
    over = filter_rows(last, sparsity=0.35, group="ood").iloc[0]
    full = filter_rows(tables["group_accuracy"], seed=None, group="ood")["accuracy"]
    assert over[["full", "full_low", "full_high"]].tolist() == pytest.approx(mean_interval(full))
    assert (over["over"], over["n"]) == ("fine-tuning seeds", 2)
    single_seed = {name: tables[name][tables[name]["ft_seed"].fillna(1) == 1] for name in ("group_accuracy", "summary")}
    assert draw("table7", single_seed, Figure(), CONTEXT)[1]["ft_seed"].notna().all()


def test_condensed_as_a_sheet():
    row = {"over": "pruning seeds", "ft_seed": 0, "step": 61360, "sparsity": 0.5, "subset": "ln_preposition"}
    row |= {"group": "ood", "min": 3.2, "max": 41.4, "mean": 17.942, "sd": 10.507, "low": 11.26, "high": 24.62, "n": 12}
    row["left_out"] = 0
    known = pd.DataFrame([row | {"full": 73.5, "full_low": 70.71, "full_high": 76.2}])
    (sheet,) = condensed.sheets(known)
    assert mentions(sheet.title, 0)
    assert sheet.columns[:3] == ["subset", "sparsity", "full model"]
    ends = ["3.20", "41.40", "17.94", "10.51", "[11.3, 24.6]", "12"]
    assert sheet.rows == [["ln_preposition", "50 %", "73.50 [70.7, 76.2]", *ends]]
    (sheet,) = condensed.sheets(known.assign(n=9, left_out=3))
    assert mentions(sheet.rows[0][-1], 9, 3)
    (sheet,) = condensed.sheets(known.assign(full_low=np.nan, full_high=np.nan, subset=None))
    assert sheet.columns[0] == "group" and sheet.rows[0][:3] == ["OOD", "50 %", "73.50"]


def sizes(**values):
    row = {"ft_seed": 1, "step": 500, "group": "id", "criterion": "accuracy", "threshold": 3.0, "order": "per-seed"}
    row |= {"full_accuracy": 80.0, "effective_size": 51.67, "sd": 2.89, "floor": 30.0, "n_seeds": 3, "reason": None}
    row |= {"least": 51.67, "most": 51.67}
    return row | {"main": True, "collapsed": 0} | values


def test_effective_sizes_as_sheets():
    null = dict.fromkeys(("effective_size", "sd", "least", "most"))
    undefined = null | {"group": "ood", "reason": "undefined: full model at 0.7 %"}
    lost = null | {"reason": "missing: no subnetworks"}
    rows = [
        sizes(), sizes(order="mean-first", effective_size=55.0, sd=None), sizes(order="upward", **lost),
        *(sizes(order=order, **undefined) for order in ("per-seed", "mean-first", "upward")),
        sizes(step=900), sizes(step=900, criterion="recovery", threshold=95.0, main=False, effective_size=50.0),
        sizes(step=900, criterion="kl", threshold=0.1, main=False, **undefined),
        sizes(step=900, group="ood", **null | {"least": 80.0, "most": 100.0}),
        sizes(step=900, group="ood", order="mean-first", **null | {"least": 0.0, "most": 30.0}),
        sizes(step=900, group="ood", order="upward", **null | {"least": 40.0, "most": 62.34}),
    ]  # fmt: skip
    first, second = table_effective_size.sheets(pd.DataFrame(rows))
    assert (first.columns, second.columns) == (["step", "ID", "OOD"], ["faithful", "ID", "OOD"])
    assert first.rows[0] == ["500", "51.7 ± 2.9 / 55.0 / missing", "undefined"]
    assert [row[1:] for row in second.rows] == [
        ["51.7 ± 2.9 / missing / missing", "> 80.0 / ≤ 30.0 / 40.0 to 62.3"],
        ["50.0 ± 2.9 / missing / missing", "missing"],
        ["missing", "undefined / missing / missing"],
    ]
    for row, criterion in zip(second.rows, (("accuracy", 3), ("accuracy", "95 %"), ("KL", 0.1)), strict=True):
        assert mentions(row[0], *criterion)


def test_table_effective_size_needs_the_studys_margin(tables):
    with raises(ValueError, "table_effective_size", 2):
        draw("table_effective_size", tables, Figure(), CONTEXT.model_copy(update={"margin": 2.0}))


def test_variance_as_a_sheet(drawn):
    first, second = table_variance.sheets(drawn["table_variance"][1])
    assert first.rows[0] == ["in_domain", "35 %", "6.25", "12", "1.50", "2", "unknown"]
    assert second.rows[-1] == ["OOD-entailment, mean", "50 %", "6.25", "12", "1.50", "2", "1"]
    assert len(first.rows) == 2 * (len(SUBSETS) + 3)
