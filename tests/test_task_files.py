"""Tasks of files: labels, subsets, groups, samples, and errors that name file, column and value."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from conftest import ROOT, SHARED
from task_rows import HANS, HANS_ROWS, NLI, named, pairs, raises

from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.files import read_task
from heuristic_core.data.pairs import SubsetRule
from heuristic_core.data.sentences import load_sentences
from heuristic_core.data.split_files import find_local_paths, find_missing_paths
from heuristic_core.tables.parquet import as_table


def left_out(account):
    """The reasons for which rows of a set are left out, and how many."""
    return {reason: count for reason, count in account.reasons.items() if count}


@pytest.mark.parametrize("labels", [("contradiction", "entailment", "neutral"), (2, 0, 1)], ids=["names", "numbers"])
def test_labels_are_read_by_name_and_by_number(task, labels):
    result = load_sentences(task(pairs(*labels), {"dev": (pairs(*labels), {"group": "id"})}))
    assert result.labels == tuple(NLI)
    assert named(result.train) == named(result.evaluation) == {"p0": 2, "p1": 0, "p2": 1}
    assert result.subsets == (SubsetRule("dev", "id", None, (0, 1, 2)),)


# The file's 0, 1, 2 are contradiction, entailment, neutral.
OTHER_ORDER = {"labels": ["contradiction", "entailment", "neutral"]}


@pytest.mark.parametrize("labels", [(0, 1, 2, 1), ("contradiction", "entailment", "neutral", "entailment")])
def test_training_labels_of_another_order_become_the_tasks_classes(task, labels):
    result = read_task(task(pairs(*labels), train_spec=OTHER_ORDER))
    assert named(result.train) == {"p0": 2, "p1": 0, "p2": 1, "p3": 0}


def test_evaluation_labels_of_another_order_are_matched_by_name(task):
    result = read_task(task(evaluation={"dev": (pairs(0, 1, 2, 1), {"group": "id", **OTHER_ORDER})}))
    (rule,) = result.subsets
    truth = ["contradiction", "entailment", "neutral", "entailment"]
    right = [[rule.merge[NLI.index(guess)] == row["label"] for guess in NLI] for row in result.evaluation]
    assert right == [[guess == label for guess in NLI] for label in truth]


def test_a_training_file_may_lack_a_class(task):
    result = read_task(task(pairs(1, 0), train_spec={"labels": ["neutral", "contradiction"]}))
    assert named(result.train) == {"p0": 2, "p1": 1}


def test_a_file_like_hans_is_split_merged_and_grouped(task):
    result = read_task(task(evaluation={"hans": (HANS_ROWS, HANS)}))
    assert result.subsets == (
        SubsetRule("ce_x", "ood-entailment", "constituent", (0, 1, 1)),
        SubsetRule("cn_x", "ood", "constituent", (0, 1, 1)),
        SubsetRule("ln_b-a", "ood", "lexical_overlap", (0, 1, 1)),
    )
    assert result.evaluation == [
        {
            "subset": subset,
            "group": group,
            "family": family,
            "template": f"t{i}",
            "sentence1": f"p{i}",
            "sentence2": f"h{i}",
            "target_start": None,
            "target_end": None,
            "label": label,
        }
        for i, subset, group, family, label in [
            (1, "ce_x", "ood-entailment", "constituent", 0),
            (3, "cn_x", "ood", "constituent", 1),
            (0, "ln_b-a", "ood", "lexical_overlap", 1),
            (2, "ln_b-a", "ood", "lexical_overlap", 1),
        ]
    ]


def test_sets_stand_in_the_order_of_the_configuration_and_fit_their_table(task):
    sets = {"z": (pairs(0, 1), {"group": "id"}), "hans": (HANS_ROWS, HANS), "a": (pairs(2), {"group": "ood"})}
    result = read_task(task(evaluation=sets))
    assert [rule.name for rule in result.subsets] == ["z", "ce_x", "cn_x", "ln_b-a", "a"]
    assert [row["subset"] for row in result.evaluation] == ["z", "z", "ce_x", "cn_x", "ln_b-a", "ln_b-a", "a"]
    assert as_table("sentences", result.train + result.evaluation).num_rows == 9


@pytest.mark.parametrize(
    "labels",
    [
        (-1, 2, None, 0),
        ("-", "contradiction", None, "entailment"),
        ("-1", "2", "", "0"),
        (math.nan, 2.0, None, 0.0),
    ],
    ids=["numbers", "names", "text", "real"],
)
def test_rows_without_a_label_are_left_out_and_counted(task, labels):
    result = read_task(task(pairs(*labels), {"dev": (pairs(*labels), {"group": "id"})}))
    assert named(result.train) == named(result.evaluation) == {"p1": 2, "p3": 0}
    for account, name in zip(result.accounts, ("train", "dev"), strict=True):
        assert (account.set, account.source, account.rows, account.used) == (name, f"{name}.parquet", 4, 2)
        assert left_out(account) == {"unlabelled": 2}


EMPTY = [("premise", "  "), ("premise", "\u200b \ufeff"), ("hypothesis", ""), ("hypothesis", None)]


@pytest.mark.parametrize("name", ["train", "dev"])
@pytest.mark.parametrize(("column", "empty"), EMPTY, ids=["spaces", "invisible", "empty", "null"])
def test_an_empty_sentence_of_a_labelled_row_is_an_error_unless_where_excludes_it(task, name, column, empty):
    unlabelled = pairs(-1)[0] | {"premise": None, "hypothesis": None}
    rows = [*pairs(0, 1), unlabelled, *[row | {column: empty} for row in pairs(0, 1)]]
    files = {file: rows if file == name else pairs(0, 1) for file in ("train", "dev")}
    made = task(files["train"], {"dev": (files["dev"], {"group": "id"})})
    raises(made, f"{name}.parquet", "row 4", column, "2 labelled rows", "where")


def test_rows_with_an_empty_sentence_are_left_out_by_where(task):
    rows = [
        row | {"hypothesis": hypothesis}
        for row, hypothesis in zip(pairs(0, 1, 0, 1), ("h", None, "h", ""), strict=True)
    ]
    result = read_task(task(evaluation={"dev": (rows, {"group": "id", "where": {"hypothesis": r"\S"}})}))
    assert left_out(result.accounts[1]) == {"not_chosen": 2}


# ---- the real files


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="needs the real data files in ../shared/data")
def test_the_real_files_have_their_known_sizes_subsets_and_labels():
    values = yaml.safe_load((ROOT / "config" / "minilm-mnli.yaml").read_text())["task"] | {
        "folder": str(SHARED / "data")
    }
    for spec in values["evaluation"].values():
        spec.pop("pairs", None)  # all of them
    result = read_task(FilesTask.model_validate(values))
    sizes = {rule.name: 0 for rule in result.subsets}
    for row in result.evaluation:
        sizes[row["subset"]] += 1
    hans = [rule for rule in result.subsets if rule.name not in ("mnli_matched", "mnli_mismatched")]
    assert sizes == {"mnli_matched": 9815, "mnli_mismatched": 9832} | {rule.name: 1000 for rule in hans}
    assert len(hans) == 30
    families = {"l": "lexical_overlap", "s": "subsequence", "c": "constituent"}
    groups = {"e": "ood-entailment", "n": "ood"}
    for rule in hans:  # their names begin with the letters of family and label
        assert (rule.family, rule.group, rule.merge) == (families[rule.name[0]], groups[rule.name[1]], (0, 1, 1))
    assert all(row["label"] == "en".index(row["subset"][1]) for row in result.evaluation if row["family"])
    table = pq.read_table(SHARED / "data" / "mnli_dev_matched.parquet").to_pylist()
    matched = [row for row in result.evaluation if row["subset"] == "mnli_matched"]
    assert [(row["sentence1"], row["sentence2"], NLI[row["label"]]) for row in matched] == [
        (row["premise"], row["hypothesis"], row["label"]) for row in table
    ]


def test_only_the_pairs_of_one_label_are_used(task):
    result = read_task(task(evaluation={"dev": (pairs(*NLI, "neutral"), {"group": "ood", "only_label": "neutral"})}))
    assert [row["sentence1"] for row in result.evaluation] == ["p1", "p3"]
    dev = result.accounts[1]
    assert (dev.rows, dev.used, left_out(dev)) == (4, 2, {"other_label": 2})
    made = task(evaluation={"dev": (pairs("neutral"), {"group": "ood", "only_label": "maybe"})})
    raises(made, "task.evaluation.dev.only_label", "'maybe'", str(NLI))


# ---- templates and folders


@pytest.mark.parametrize("column", ["template", "pattern"])
def test_templates_are_of_the_column_that_the_configuration_names(task, column):
    rows = [row | {"template": "v1", column: f"t{i}"} for i, row in enumerate(pairs(0, 1))]
    for spec, expected in (({"templates": column}, ["t0", "t1"]), ({}, [None, None])):
        result = read_task(task(evaluation={"dev": (rows, {"group": "id", **spec})}))
        assert [row["template"] for row in result.evaluation] == expected


def test_a_template_that_is_not_there_is_named(task):
    spec = {"group": "id", "templates": "template"}
    raises(task(evaluation={"dev": (pairs(0), spec)}), "dev.parquet", "'template'", "premise", "hypothesis")
    rows = [row | {"template": None if i == 1 else "t"} for i, row in enumerate(pairs(0, 1, -1))]
    raises(task(evaluation={"dev": (rows, spec)}), "row 2", "template")


def test_files_may_be_in_several_folders(task, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, label in (("one", 0), ("two/deep", 1)):
        (tmp_path / name).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(pairs(label)), tmp_path / name / "dev.parquet")
    sets = {
        "own": ([], {"file": "dev.parquet", "folder": "one", "group": "id"}),
        "deep": ([], {"file": "*.parquet", "folder": str(tmp_path / "two/deep"), "group": "ood"}),
        "dev": (pairs(2), {"group": "ood"}),
    }
    made = task(evaluation=sets)
    result = read_task(made)
    assert [(row["subset"], row["label"]) for row in result.evaluation] == [("own", 0), ("deep", 1), ("dev", 2)]
    sources = {account.set: account.source for account in result.accounts}
    assert sources["own"] == "one/dev.parquet" and sources["dev"] == "dev.parquet"
    assert {"one/dev.parquet", f"{tmp_path}/two/deep/dev.parquet", f"{tmp_path}/dev.parquet"} <= {
        *find_local_paths(made)
    }
    (tmp_path / "one/dev.parquet").unlink()
    raises(made, "one/dev.parquet", "folder", "'one'")
    assert find_missing_paths(made) == {"task.evaluation.own.file": "one/dev.parquet"}


def test_some_pairs_of_a_training_file_are_drawn_by_the_tasks_seed(task):
    def make(seed, count):
        return task(pairs(*NLI * 10), train_spec={"pairs": count}, seed=seed)

    first, again, other = read_task(make(1, 6)), read_task(make(1, 6)), read_task(make(2, 6))
    drawn = [named(result.train) for result in (first, again, other)]
    assert drawn[0] == drawn[1] != drawn[2] and {len(labels) for labels in drawn} == {6}
    assert first.accounts[0].used == 6 and left_out(first.accounts[0]) == {"not_drawn": 24}
    raises(make(1, 31), "task.train.0.pairs = 31", "30")
