"""Subsets called as groups, measures and rows of ours are shown as any other subset is."""

import pandas as pd
import pytest
from conftest import ROOT
from figure_tables import CONTEXT, SUBSETS
from mentions import mentions
from page_studies import SPLITS, make_study

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.compare import compare
from heuristic_core.experiments.subnetworks.analysis.names import subset_label
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures import build_sheets, draw
from heuristic_core.experiments.subnetworks.figures.roles import ROLES, group_label
from heuristic_core.experiments.subnetworks.report.page import load_splits
from heuristic_core.experiments.subnetworks.report.sides import Side, load_side
from heuristic_core.experiments.subnetworks.report.views import build_view
from heuristic_core.report.exhibits import _read_marks
from heuristic_core.tables.parquet import write_table

OURS = ["id", "J", "AUC", "OOD, mean", "ID, mean", "J (subset)", "J, mean", "OOD", "ood-entailment", "entailment", "ID",
        "auc", "mixed", "J, lexical overlap", " ", "full model", "mean", "all", "train", "none"]  # fmt: skip
NAMES = dict(zip(SUBSETS, OURS, strict=False))
NAMED = ("table3", "table5", "table_controls", "table_mask_fit", "table_variance", "figure02", "figure03", "figure10",
         "figure12", "figure_counter_heads", "figure_lesion", "table7")  # fmt: skip


def renamed(frame, name="subset"):
    return frame.assign(**{name: frame[name].map(lambda subset: NAMES.get(subset, subset))}) if name in frame else frame


def chosen(names):
    return Figure(subsets=names)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_numbers_are_the_same_whatever_subsets_are_called(tables, name):
    plain = list(SUBSETS) if name == "table_controls" else None
    nasty = plain and [NAMES[subset] for subset in plain]
    figure, marks = draw(name, tables, chosen(plain), CONTEXT)
    drawing, result = draw(name, {key: renamed(frame) for key, frame in tables.items()}, chosen(nasty), CONTEXT)
    texts = marks.select_dtypes(exclude="number").columns
    pd.testing.assert_frame_equal(result.drop(columns=texts), marks.drop(columns=texts))
    for column in {"column", "row"} & set(texts):
        assert result[column].nunique() == marks[column].nunique()
    if sheets := build_sheets(name, marks):
        for sheet, other in zip(sheets, build_sheets(name, result), strict=True):
            assert [row[1:] for row in other.rows] == [row[1:] for row in sheet.rows]
            assert len(set(other.columns)) == len(other.columns) == len(sheet.columns)
    else:
        assert [len(ax.texts) for ax in drawing.axes] == [len(ax.texts) for ax in figure.axes]
        assert [len(ax.get_xticklabels()) for ax in drawing.axes] == [len(ax.get_xticklabels()) for ax in figure.axes]
        assert (build_view(name, result) or {}).get("spec") == (build_view(name, marks) or {}).get("spec")


def test_labels_of_subsets_differ_from_each_other_and_from_ours():
    names = [*OURS, "J (subset) (subset)", "mixed, by subset", "prices, low", "lexical", ""]
    labels = list(map(subset_label, names))
    assert len(set(labels)) == len(names)
    assert not set(labels) & {*ROLES, *(role.label for role in ROLES.values()), *map(group_label, ROLES), "", " "}
    assert subset_label("in_domain") == "in_domain"


@pytest.mark.slow
def test_families_that_differ_by_a_line_and_a_space_keep_their_scores(tables):
    def family(frame):
        names = {"lexical_overlap": "a b", "subsequence": "a_b"}
        return frame.assign(family=frame["family"].replace(names)) if "family" in frame else frame

    _, marks = draw("figure12", tables, Figure(), CONTEXT)
    _, result = draw("figure12", {key: family(frame) for key, frame in tables.items()}, Figure(), CONTEXT)
    of_j = result[result["group"] == "j"]
    assert {"J, a b", "J, a_b"} <= set(of_j["subset"])
    assert len(result) == len(marks) and not of_j.duplicated(["subset", "ft_seed", "sparsity", "seed"]).any()


@pytest.mark.slow
def test_numbers_of_groups_are_compared_where_one_study_alone_has_a_subset_called_so(tmp_path):
    first, second = tmp_path / "results" / "one", tmp_path / "results" / "other"
    make_study(first, (1,)), make_study(second, (1,), 7.0)
    (a, context), (b, other) = load_side(Side(first, None)), load_side(Side(second, None))
    plain = compare(a, b, context, other)
    subsets = list(a["accuracy"]["subset"].unique())
    called = dict(zip(subsets, ["id", "heads", "shared seeds", "j"], strict=False))
    for tables in (a, b):
        for name in ("accuracy", "summary"):
            tables[name] = tables[name].assign(subset=tables[name]["subset"].replace(called))
    both = compare(a, b, context, other)
    b["accuracy"] = b["accuracy"][b["accuracy"]["subset"] != "id"]
    apart = compare(a, b, context, other)
    assert sorted(both["difference"].dropna()) == sorted(plain["difference"].dropna())
    groups = plain[plain["group_or_subset"].isin(["id", "ood", "j", "heads", "shared seeds"])]
    result = apart[apart["group_or_subset"].isin(groups["group_or_subset"])].merge(
        groups, on=["quantity", "group_or_subset", "sparsity_role"], suffixes=("", "_plain")
    )
    assert len(result) == len(groups) > 0
    pd.testing.assert_series_equal(result["difference"], result["difference_plain"], check_names=False)


def test_a_page_reads_subsets_called_null_and_1(tmp_path):
    marks = pd.DataFrame(
        {"subset": ["null", "1", "NA", None], "family": ["nan", "2", None, None], "low": [1.5, None, 2, 3]}
    )
    marks.to_csv(tmp_path / "marks.csv", index=False)
    result = _read_marks(tmp_path / "marks.csv")
    assert result["subset"].iloc[:3].tolist() == ["null", "1", "NA"] and result["subset"].isna().tolist()[3]
    assert result["family"].iloc[:2].tolist() == ["nan", "2"] and result["family"].isna().sum() == 2
    assert result["low"].sum() == 6.5


@pytest.mark.parametrize(("subset", "name"), [("cn_if", "cn_if"), ("train", "train"), (None, "train")])
def test_a_page_tells_a_subset_called_train_from_the_training_pairs(tmp_path, subset, name):
    training, other = SPLITS
    write_table("splits", [training, other | {"set": "train", "subset": subset}], tmp_path / "tables/splits.parquet")
    training_name, subset_name = (row["name"] for row in load_splits(tmp_path, {}))
    assert training_name == "train" != subset_name and mentions(subset_name, name)
    if subset:
        named = load_splits(tmp_path, {subset: "Readable"})[1]["name"]
        assert mentions(named, "Readable", subset_name)


def test_readable_names_replace_subsets_in_marks_unless_two_would_be_the_same(tables):
    names = {"ln_prep": "Prep", "cn_if": "ln_rel", "cn_adv": "Same", "cn_verb": "Same", "in_domain": "ID"}
    context = CONTEXT.model_copy(update={"names": names, "subsets": tuple(SUBSETS)})
    figure, marks = draw("figure02", tables, chosen(["in_domain", "ln_prep", "cn_if", "cn_adv", "cn_verb"]), context)
    subsets = set(marks["subset"]) - {"J", "AUC"}
    assert subsets == {"ID (subset)", "Prep", "cn_if", "cn_adv", "cn_verb"}
    assert subsets < {label.get_text() for label in figure.axes[-1].get_xticklabels()}


def test_a_study_names_known_subsets_and_its_configuration_has_the_last_word():
    study = load_study(ROOT / "config.yaml")
    assert Context.from_study(study).names["ln_so_swap"] == "SO-Swap"
    analysis = study.analysis.model_copy(update={"names": {"ln_so_swap": "Swap"}})
    names = Context.from_study(study.model_copy(update={"analysis": analysis})).names
    assert (names["ln_so_swap"], names["ln_prep"]) == ("Swap", "Prep")
