"""Tables 3 and of controls, from the synthetic tables of figure_tables.py and figure_head_tables.py."""

import numpy as np
import pandas as pd
import pytest
from figure_head_tables import MATCHED, ablation_rows
from figure_tables import CONTEXT, FT_SEEDS, control_rows, table
from mentions import mentions

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.figures import draw, write
from heuristic_core.experiments.subnetworks.figures.table3 import sheets
from heuristic_core.experiments.subnetworks.figures.table_controls import sheets as control_sheets
from heuristic_core.figures.sheets import Sheet, to_markdown
from heuristic_core.figures.targets import target_files
from heuristic_core.figures.text import format_number, format_signed
from heuristic_core.tables.schemas import SCHEMAS

SHORT = Figure(subsets=["in_domain", "ln_prep", "cn_if"])
GROUP_COLUMNS = ["ID, mean", "OOD, mean", "OOD-entailment, mean"]
HEADS = "heads 0.2 + 1.3 + 2.1"


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(7)
    return {
        "ablations": table("ablations", list(ablation_rows(rng))),
        "controls": table("controls", list(control_rows(rng))),
    }


def only(rows, **values):
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table3", "table4", "table6", "table8", "table_controls"])
def test_the_same_tables_give_the_same_files(tables, name, tmp_path):
    for run in ("one", "two"):
        write(tmp_path / run, name, *draw(name, tables, SHORT, CONTEXT), SHORT)
    for first, second in zip(*(target_files(tmp_path / run, name) for run in ("one", "two")), strict=True):
        with open(first, "rb") as first_file, open(second, "rb") as second_file:
            assert first_file.read() == second_file.read()
    assert set(pd.read_csv(target_files(tmp_path / "one", name)[1])["ft_seed"]) == set(FT_SEEDS)


def test_table3_rows_and_values(tables):
    figure, marks = draw("table3", tables, SHORT, CONTEXT)
    assert figure is None
    mean = only(marks, ft_seed=1, kind="mean")
    none, outside, *of_core, of_controls = rows = mean["row"].unique().tolist()
    assert (none, of_core) == ("none", ["head 0.2", "head 1.3", "head 2.1", "head 3.0", HEADS])
    assert mentions(outside, 28) and mentions(of_controls, 3, "0+1+2")
    assert only(marks, ft_seed=1, kind="zero")["row"].unique().tolist() == [row for row in rows if row != outside]
    none, outside = only(marks, ft_seed=2, kind="mean")["row"].unique()
    assert none == "none" and mentions(outside, 32)
    assert mean["column"].unique().tolist() == [GROUP_COLUMNS[0], "J", *GROUP_COLUMNS[1:], "AUC", *SHORT.subsets[1:]]
    controls = only(tables["ablations"], ft_seed=1, kind="mean", subset="cn_if", role="control")["change"]
    cells = only(mean, column="cn_if").set_index("row")
    averaged = cells.loc[of_controls]
    assert averaged["change"] == pytest.approx(controls.mean()) and averaged["n"] == 100
    assert pd.isna(averaged["change_low"])
    head = only(tables["ablations"], ft_seed=1, kind="mean", subset="cn_if", ablation="1.3").iloc[0]
    values = ["accuracy", "change", "change_low", "change_high"]
    assert cells.loc["head 1.3", values].tolist() == head[values].tolist()


def test_table3_has_the_first_kind_in_full_and_the_kinds_below_one_another(tables):
    marks = draw("table3", tables, SHORT, CONTEXT)[1]
    means, by_kind, subsets, second, *_ = sheets(marks)
    assert mentions(means.title, 1, "mean") and mentions(second.title, 2, "mean")
    rows = {row[0]: row[1:] for row in subsets.rows}
    assert rows.keys() == {row[0] for row in means.rows}
    cell = only(tables["ablations"], ft_seed=1, kind="mean", subset="ln_prep", ablation=MATCHED).iloc[0]
    drop = -cell["change"]
    assert rows["none"] == ["90.0"] * 2 and means.rows[0] == ["none", *["90.0"] * 5]
    prep = next(at for at, column in enumerate(subsets.columns) if "prep" in column.lower())
    assert rows[HEADS][prep - 1] == f"{90 - drop:.1f} (−{drop:.0f}; −{drop + 4:.0f} to −{drop - 3:.0f})"
    assert by_kind.columns[2:] == ["ID", "J", "OOD", "OOD-entailment", "AUC"]
    of_controls = next(row for row in rows if mentions(row, 3, "0+1+2"))
    names = ["head 0.2", "head 1.3", "head 2.1", "head 3.0", HEADS, of_controls]
    assert [row[:2] for row in by_kind.rows] == [[name, kind] for name in names for kind in ("mean", "zero")]
    zero = only(
        tables["ablations"][tables["ablations"]["subset"].isna()], ft_seed=1, kind="zero", group="ood", ablation="0.2"
    )
    assert by_kind.rows[1][by_kind.columns.index("OOD")].startswith(
        f"{zero['accuracy'].item():.1f} ({zero['change'].item():.0f}; ".replace("-", "−")
    )


def test_a_core_of_two_shows_its_pair_with_controls(tables):
    ablations = tables["ablations"].copy()
    ablations["role"] = ablations["role"].replace({"strongest": "pair"})
    rows = draw("table3", {"ablations": ablations}, SHORT, CONTEXT)[1]["row"].unique()
    assert HEADS in rows and any(mentions(row, 3, "0+1+2") for row in rows)


def test_table3_from_published_numbers():
    """One kind, a few rows, no group means, controls, heads outside the core, intervals, or numbers of pairs."""
    published = {"none": ("none", "", 86.7), "4.0": ("core", "4", 45.4), "2.5+3.7+4.0": ("strongest", "2+3+4", 3.6)}
    rows = [
        dict.fromkeys(SCHEMAS["ablations"])
        | {"study": "p", "model": "b", "task": "t", "ft_seed": 0, "step": 2200, "kind": "mean", "ablation": name}
        | {"role": role, "size": 1, "layers": layers, "subset": "so_swap", "group": "ood", "accuracy": accuracy}
        | {"change": accuracy - 86.7}
        for name, (role, layers, accuracy) in published.items()
    ]
    marks = draw("table3", {"ablations": table("ablations", rows)}, Figure(), CONTEXT)[1]
    assert to_markdown(sheets(marks)).splitlines()[2:] == [
        "| ablated | so_swap |",
        "| --- | --- |",
        "| none | 86.7 |",
        "| head 4.0 | 45.4 (−41) |",
        "| heads 2.5 + 3.7 + 4.0 | 3.6 (−83) |",
    ]


def test_table_of_controls(tables):
    marks = draw("table_controls", tables, SHORT, CONTEXT)[1]
    result = control_sheets(marks)
    for sheet, sparsity in zip(result, (0.35, 0.5), strict=False):
        assert mentions(sheet.title, 1, sparsity)
    assert result[0].columns == ["subnetworks", *GROUP_COLUMNS, *SHORT.subsets]
    rows = {row[0]: row[1:] for row in result[0].rows}
    assert list(rows) == [
        "learned (n = 12)", "random (n = 12)", "importance (n = 1)", "learned − random", "learned − importance"
    ]  # fmt: skip
    assert rows["random (n = 12)"][0] == "45.0 ± 2.5" and rows["importance (n = 1)"][0] == "60.0"
    at = {"ft_seed": 1, "sparsity": 0.35, "control": "random", "column": "cn_if"}
    cell = only(marks, **at).iloc[0]
    assert (
        rows["learned − random"][5]
        == f"+{cell.difference:.1f} (+{cell.difference - 5:.1f} to +{cell.difference + 5:.1f})"
    )
    without = draw("table_controls", tables, Figure(), CONTEXT)[1]
    assert without["column"].unique().tolist() == GROUP_COLUMNS


def test_table_of_controls_tells_of_failed_runs(tables):
    controls = tables["controls"].copy()
    first = controls["control"].eq("learned") & controls["subset"].eq("cn_if")
    controls.loc[first, "n"] = 10
    controls.loc[controls["control"].eq("random"), "left_out"] = 2
    random = controls["control"].eq("random") & controls["subset"].eq("cn_if")
    controls.loc[random, ["difference_low", "difference_high"]] = None
    rows = control_sheets(draw("table_controls", {"controls": controls}, SHORT, CONTEXT)[1])[0].rows
    assert mentions(rows[0][0], "learned", 10, 12) and mentions(rows[1][0], "random", 12, 2)
    assert "(" not in rows[3][6] and "(" in rows[3][5]


@pytest.mark.parametrize("null", [None, float("nan"), pd.NA])
def test_a_null_is_an_empty_cell(null):
    assert format_number(null) == format_signed(null) == ""
    assert (format_number(-0.04), format_number(-1.25, 2), format_signed(2.0)) == ("0.0", "−1.25", "+2.0")


def test_bars_in_cells_do_not_end_them():
    sheets = [Sheet("One", ["a|b", "c"], [["y || z", ""]]), Sheet("", ["d"], [["45.0"]])]
    lines = ["## One", "", r"| a\|b | c |", "| --- | --- |", r"| y \|\| z |  |", "", "| d |", "| --- |", "| 45.0 |", ""]
    assert to_markdown(sheets).splitlines() == lines[:-1]


def test_table3_leaves_out_a_kind_that_no_shown_subset_has(tables):
    ablations = tables["ablations"]
    hidden = ablations[(ablations["kind"] == "zero") & (ablations["subset"] == "sn_pp")]
    assert len(hidden) and "sn_pp" not in SHORT.subsets
    rows = pd.concat([ablations[ablations["kind"] == "mean"], hidden.assign(kind="counterfactual")])
    _, marks = draw("table3", {"ablations": rows}, SHORT, CONTEXT)
    assert marks["kind"].unique().tolist() == ["mean"]
