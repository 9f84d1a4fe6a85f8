"""Tasks of files: labels, subsets, groups, samples, and errors that name file, column and value."""

import logging
import math
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from conftest import ROOT, SHARED

from heuristic_core.config.tasks import FilesTask, GeneratedTask
from heuristic_core.tables.parquet import as_table
from heuristic_core.tasks.counts import split_counts
from heuristic_core.tasks.files import DataError, read_task
from heuristic_core.tasks.pairs import SubsetRule
from heuristic_core.tasks.sentences import sentences

NLI = ["entailment", "neutral", "contradiction"]
HANS = {
    "labels": ["entailment", "non-entailment"],
    "merge": {"contradiction": "non-entailment", "entailment": "entailment", "neutral": "non-entailment"},
    "split_by": "subcase",
    "family_by": "heuristic",
    "group_by_label": {"entailment": "ood-entailment", "non-entailment": "ood"},
}
HANS_ROWS = [
    {
        "premise": f"p{i}",
        "hypothesis": f"h{i}",
        "label": label,
        "subcase": subcase,
        "heuristic": family,
        "template": f"t{i}",
    }
    for i, (label, subcase, family) in enumerate(
        [
            (1, "ln_b/a", "lexical_overlap"),
            (0, "ce_x", "constituent"),
            (1, "ln_b/a", "lexical_overlap"),
            (1, "cn_x", "constituent"),
        ]
    )
]


def pairs(*labels):
    """One pair per label, told apart by its sentences."""
    return [{"premise": f"p{i}", "hypothesis": f"h{i}", "label": label} for i, label in enumerate(labels)]


@pytest.fixture
def task(tmp_path):
    """A maker of tasks: rows become Parquet files, further keywords fields of the task."""

    def make(train=None, evaluation=None, train_spec=None, **fields):
        evaluation = {"dev": (pairs("neutral"), {"group": "id"})} if evaluation is None else evaluation
        files = {"train": pairs("neutral", "entailment") if train is None else train} | {
            n: rows for n, (rows, _) in evaluation.items()
        }
        for name, rows in files.items():
            pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}.parquet")

        def spec(name, more):
            return {"file": f"{name}.parquet", "sentences": ["premise", "hypothesis"], **more}

        return FilesTask.model_validate(
            {
                "name": "t",
                "source": "files",
                "folder": str(tmp_path),
                "labels": NLI,
                "train": [spec("train", train_spec or {})],
                "evaluation": {name: spec(name, more) for name, (_, more) in evaluation.items()},
                **fields,
            }
        )

    return make


def named(rows):
    """Premise -> label."""
    return {row["sentence1"]: row["label"] for row in rows}


@pytest.mark.parametrize("labels", [("contradiction", "entailment", "neutral"), (2, 0, 1)], ids=["names", "numbers"])
def test_labels_are_read_by_name_and_by_number(task, labels):
    found = sentences(task(pairs(*labels), {"dev": (pairs(*labels), {"group": "id"})}))
    assert found.labels == tuple(NLI)
    assert named(found.train) == named(found.evaluation) == {"p0": 2, "p1": 0, "p2": 1}
    assert found.subsets == (SubsetRule("dev", "id", None, (0, 1, 2)),)


# The file's 0, 1, 2 are contradiction, entailment, neutral.
OTHER_ORDER = {"labels": ["contradiction", "entailment", "neutral"]}


@pytest.mark.parametrize("labels", [(0, 1, 2, 1), ("contradiction", "entailment", "neutral", "entailment")])
def test_training_labels_of_another_order_become_the_tasks_classes(task, labels):
    found = read_task(task(pairs(*labels), train_spec=OTHER_ORDER))
    assert named(found.train) == {"p0": 2, "p1": 0, "p2": 1, "p3": 0}


def test_evaluation_labels_of_another_order_are_matched_by_name(task):
    found = read_task(task(evaluation={"dev": (pairs(0, 1, 2, 1), {"group": "id", **OTHER_ORDER})}))
    (rule,) = found.subsets
    truth = ["contradiction", "entailment", "neutral", "entailment"]
    right = [[rule.merge[NLI.index(guess)] == row["label"] for guess in NLI] for row in found.evaluation]
    assert right == [[guess == label for guess in NLI] for label in truth]


def test_a_training_file_may_lack_a_class(task):
    found = read_task(task(pairs(1, 0), train_spec={"labels": ["neutral", "contradiction"]}))
    assert named(found.train) == {"p0": 2, "p1": 1}


def test_a_file_like_hans_is_split_merged_and_grouped(task):
    found = read_task(task(evaluation={"hans": (HANS_ROWS, HANS)}))
    assert found.subsets == (
        SubsetRule("ce_x", "ood-entailment", "constituent", (0, 1, 1)),
        SubsetRule("cn_x", "ood", "constituent", (0, 1, 1)),
        SubsetRule("ln_b-a", "ood", "lexical_overlap", (0, 1, 1)),
    )
    assert found.evaluation == [
        {
            "subset": subset,
            "group": group,
            "family": family,
            "template": f"t{i}",
            "sentence1": f"p{i}",
            "sentence2": f"h{i}",
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
    found = read_task(task(evaluation=sets))
    assert [rule.name for rule in found.subsets] == ["z", "ce_x", "cn_x", "ln_b-a", "a"]
    assert [row["subset"] for row in found.evaluation] == ["z", "z", "ce_x", "cn_x", "ln_b-a", "ln_b-a", "a"]
    assert as_table("sentences", found.train + found.evaluation).num_rows == 9


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
def test_rows_without_a_label_are_dropped_and_counted(task, labels, caplog):
    made = task(pairs(*labels), {"dev": (pairs(*labels), {"group": "id"})})
    with caplog.at_level(logging.INFO, "heuristic_core"):
        found = read_task(made)
    assert named(found.train) == named(found.evaluation) == {"p1": 2, "p3": 0}
    said = [re.sub(r".*/", "", message) for message in caplog.messages if "dropped" in message]
    dropped = "dropped 2 of 4 rows, without a label or with an empty sentence"
    assert said == [f"train.parquet: {dropped}", f"dev.parquet: {dropped}"]
    for name in ("train", "dev"):
        assert found.origins[name] == (f"{name}.parquet", 4, 0, 2, 0, 0)


def test_rows_with_an_empty_sentence_are_dropped_and_counted(task):
    rows = [
        *pairs(0, 1, -1),
        {"premise": "  ", "hypothesis": "h", "label": 0},
        {"premise": "p", "hypothesis": None, "label": 1},
        {"premise": None, "hypothesis": None, "label": None},
    ]
    found = read_task(task(rows, {"dev": (rows, {"group": "id"})}))
    assert named(found.train) == named(found.evaluation) == {"p0": 0, "p1": 1}
    assert found.origins["train"][1:] == found.origins["dev"][1:] == (6, 0, 2, 2, 0)


# ---- counts


def same_pair(first, second, label, **more):
    return {"premise": first, "hypothesis": second, "label": label, **more}


def test_duplicates_and_pairs_that_stand_in_training_too_are_counted(task, caplog):
    train = [
        same_pair("A dog", "ran", 0), same_pair("a  dog ", "RAN", 1), same_pair("a dog", "sat", 2),
        same_pair("x", "y", -1),
    ]  # fmt: skip
    hans = [
        same_pair("a dog", "ran", 1, subcase="s", heuristic="f"),  # in training as entailment and as neutral
        same_pair("A dog", "sat", 0, subcase="s", heuristic="f"),  # there a contradiction, here entailment
        same_pair("a dog", "sat", 1, subcase="s", heuristic="f"),
        same_pair("ran", "a dog", 1, subcase="s", heuristic="f"),
    ]
    dev = [same_pair("x", "y", 0), same_pair("a dog", "sat", 1), same_pair("", "y", 1)]
    groups = HANS["group_by_label"] | {"entailment": "ood"}
    made = task(train, {"hans": (hans, HANS | {"group_by_label": groups}), "dev": (dev, {"group": "id"})})
    with caplog.at_level(logging.INFO, "heuristic_core"):
        counts = split_counts(read_task(made))
    assert [tuple(row.values()) for row in counts] == [
        ("train", None, "train.parquet", 4, 0, 1, 0, 0, 3, 1, None, None, None),
        ("s", "ood", "hans.parquet", 4, 0, 0, 0, 0, 4, 1, 3, 2, 1),
        ("dev", "id", "dev.parquet", 3, 0, 0, 1, 0, 2, 0, 1, 0, 0),
    ]
    assert as_table("splits", counts).num_rows == 3
    said = "s (hans.parquet): 4 rows (and 0 torn lines), 0 without a label, 0 with an empty sentence, 4 used, "
    said += "1 of them duplicates, 3 are in training too (2 with the same label), 1 in the other order"
    assert said in caplog.messages


def test_torn_lines_are_counted_for_every_set_of_their_files(task, tmp_path, caplog):
    header = "premise\thypothesis\tlabel\tsubcase\theuristic"
    for name, torn in (("a", 1), ("b", 2)):
        rows = [f"p{i}\th{i}\t{i % 2}\ts{i % 2}\tf{i % 2}" for i in range(2000)]
        rows[700:700] = ["half a question"] * torn
        (tmp_path / f"{name}.tsv").write_text("\n".join([header, *rows]) + "\n")
    made = task(evaluation={"hans": ([], HANS | {"file": "*.tsv"})})
    with caplog.at_level(logging.INFO, "heuristic_core"):
        train, *subsets = split_counts(read_task(made))
    assert train["torn"] == 0
    assert [(row["subset"], row["rows"], row["torn"]) for row in subsets] == [("s0", 2000, 3), ("s1", 2000, 3)]
    assert any(message.startswith("s1 (*.tsv): 2000 rows (and 3 torn lines), ") for message in caplog.messages)


def test_of_a_sample_what_is_used_is_counted(task):
    rows = [same_pair("p", "h", i % 2) for i in range(30)]
    counts = split_counts(read_task(task(rows, {"dev": (rows, {"group": "id", "pairs": 5})}, train_pairs=7)))
    keys = ("rows", "used", "duplicates", "in_training", "in_training_same_label")
    assert [[row[key] for key in keys] for row in counts] == [[30, 7, 6, None, None], [30, 5, 4, 5, 5]]


def test_generated_pairs_are_counted_too():
    block = yaml.safe_load((ROOT / "tests/studies/reduced.yaml").read_text())["task"]
    train, *subsets = split_counts(sentences(GeneratedTask.model_validate(block)))
    assert (train["source"], train["rows"], train["used"]) == ("generated", 2000, 2000)
    assert [row["used"] for row in subsets] == [30] + [10] * (len(subsets) - 1)
    assert [row["in_training"] for row in subsets] == [0] * len(subsets)  # their words are held out of training


def test_overlap_may_be_left_out_of_training(task):
    train = [same_pair("A", "b", 0), same_pair("c", "d", 1), same_pair("e", "f", 2)]
    sets = {"dev": ([same_pair("a ", "B", 2), same_pair("d", "c", 0)], {"group": "id"})}
    assert sorted(named(read_task(task(train, sets)).train)) == ["A", "c", "e"]
    assert sorted(named(read_task(task(train, sets, drop_overlap=True)).train)) == ["c", "e"]
    raises(task(train, sets, drop_overlap=True, train_pairs=3), "task.train_pairs = 3", "2 labelled pairs")


def test_labels_that_never_occur_are_warned_of(task, caplog):
    read_task(task(pairs(0, 2), {"dev": (pairs(0, 1, 2), {"group": "id"}), "some": (pairs(1, 2), {"group": "ood"})}))
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert warnings == [
        "task.evaluation.some: no pair of some.parquet has the label 'entailment'",
        "task.train: no pair has the label 'neutral'",
    ]


# ---- samples


def test_training_pairs_are_the_first_of_a_seeded_shuffle(task):
    rows = pairs(*[0, 1, 2] * 20)

    def drawn(**fields):
        return [row["sentence1"] for row in read_task(task(rows, **fields)).train]

    everything = drawn(seed=3)
    assert sorted(everything) == sorted(row["premise"] for row in rows)
    assert everything != [row["premise"] for row in rows]
    assert drawn(seed=3, train_pairs=7) == everything[:7]
    assert drawn(seed=3, train_pairs=60) == everything
    assert drawn(seed=4, train_pairs=7) != everything[:7]


def test_training_files_are_shuffled_together(task, tmp_path):
    made = task(pairs(*[0] * 30))
    more = [row | {"premise": f"q{i}"} for i, row in enumerate(pairs(*[1] * 30))]
    pq.write_table(pa.Table.from_pylist(more), tmp_path / "more.parquet")
    both = made.model_copy(update={"train": [*made.train, made.train[0].model_copy(update={"file": "more.parquet"})]})
    found = read_task(both).train
    assert named(found) == {f"p{i}": 0 for i in range(30)} | {f"q{i}": 1 for i in range(30)}
    assert 0 < sum(row["label"] for row in found[:30]) < 30


def test_evaluation_pairs_are_sampled_in_their_order_by_seed(task):
    rows = pairs(*[0, 1, 2] * 20)

    def drawn(seed, **more):
        sets = {"dev": (rows, {"group": "id", "pairs": 9}), **more}
        return [
            row["sentence1"] for row in read_task(task(evaluation=sets, seed=seed)).evaluation if row["subset"] == "dev"
        ]

    order = [row["premise"] for row in rows]
    sample = drawn(1)
    assert len(sample) == 9 and sample == sorted(set(sample), key=order.index)
    assert drawn(1) == sample != drawn(2)
    assert drawn(1, further=(rows, {"group": "ood", "pairs": 5})) == sample


def test_every_subset_of_a_split_file_is_sampled_by_itself(task):
    found = read_task(task(evaluation={"hans": (HANS_ROWS, HANS | {"pairs": 1})}))
    assert [row["subset"] for row in found.evaluation] == ["ce_x", "cn_x", "ln_b-a"]


# ---- faults


def raises(made, *parts):
    """Reading the task fails with a message that holds all of `parts`."""
    with pytest.raises(DataError) as caught:
        read_task(made)
    assert [part for part in parts if part not in str(caught.value)] == [], str(caught.value)


def test_a_missing_file_is_named(task, tmp_path):
    made = task()
    (tmp_path / "dev.parquet").unlink()
    raises(made, str(tmp_path / "dev.parquet"), "no such file", f"task.folder = {str(tmp_path)!r}")


@pytest.mark.parametrize(
    ("spec", "column"),
    [
        ({"group": "id", "sentences": ["premise", "question2"]}, "question2"),
        ({"group": "id", "label": "gold"}, "gold"),
        ({"group": "id", "split_by": "subcase"}, "subcase"),
        ({"group": "id", "family_by": "heuristic"}, "heuristic"),
    ],
)
def test_a_missing_column_is_named_beside_those_there_are(task, spec, column):
    raises(
        task(evaluation={"dev": (pairs(0), spec)}), "dev.parquet", f"no column {column!r}", "premise, hypothesis, label"
    )


@pytest.mark.parametrize("label", [3, -2, "Neutral", 0.5, "3", "1.5", True, "inf"])
def test_an_unknown_label_is_named_with_the_known_ones(task, label):
    expected = ["train.parquet", f"label = {label!r}", str(NLI), "0 to 2"]
    raises(task(pairs(label)), *expected)
    raises(task(evaluation={"dev": (pairs(label), {"group": "id"})}), "dev.parquet", *expected[1:])


def test_training_labels_that_the_task_does_not_have_are_named(task):
    raises(task(pairs(0), train_spec={"labels": ["entailment", "unrelated"]}), "train.parquet", "'unrelated'", str(NLI))


MERGE = HANS["merge"]


@pytest.mark.parametrize(
    ("merge", "part"),
    [
        (None, "give `merge`"),
        ({"entailment": "entailment", "neutral": "non-entailment"}, "contradiction"),
        (MERGE | {"neutral": "neither"}, "'neither'"),
        (MERGE | {"other": "entailment"}, "'other'"),
    ],
)
def test_a_wrong_merge_is_named(task, merge, part):
    raises(
        task(evaluation={"hans": (HANS_ROWS, HANS | {"merge": merge})}), "task.evaluation.hans", "merge", str(NLI), part
    )


def test_a_label_without_a_group_is_named(task):
    groups = {"entailment": "ood-entailment"}
    raises(
        task(evaluation={"hans": (HANS_ROWS, HANS | {"group_by_label": groups})}),
        "task.evaluation.hans.group_by_label",
        "'non-entailment'",
        "hans.parquet",
    )


@pytest.mark.parametrize("change", [{"label": 0}, {"heuristic": "subsequence"}])
def test_a_subset_of_several_groups_or_families_is_named(task, change):
    rows = [*HANS_ROWS, HANS_ROWS[0] | change]
    raises(task(evaluation={"hans": (rows, HANS)}), "hans.parquet", "'subcase'", "several groups or families")


def test_more_training_pairs_than_there_are_is_named(task):
    raises(task(pairs(0, 1, -1, 2), train_pairs=4), "task.train_pairs = 4", "3 labelled pairs")


def test_a_name_of_a_subset_stands_for_one(task):
    twice = {"hans": (HANS_ROWS, HANS), "cn_x": (pairs(0), {"group": "id"})}
    raises(task(evaluation=twice), "task.evaluation.cn_x", "subset 'cn_x'", "name of its own")
    raises(task(evaluation={"train": (pairs(0), {"group": "id"})}), "task.evaluation.train", "subset 'train'")
    alike = [*HANS_ROWS, HANS_ROWS[0] | {"subcase": "ln_b-a"}]  # for paths, / becomes -
    raises(task(evaluation={"hans": (alike, HANS)}), "task.evaluation.hans", "subset 'ln_b-a'")


@pytest.mark.parametrize("value", [None, ""])
def test_a_row_without_a_value_to_split_by_is_named(task, value):
    rows = [*HANS_ROWS, HANS_ROWS[0] | {"subcase": value}]
    raises(task(evaluation={"hans": (rows, HANS)}), "hans.parquet", "row 5", "no subcase")
    unlabelled = [*HANS_ROWS, HANS_ROWS[0] | {"subcase": value, "label": -1}]
    assert len(read_task(task(evaluation={"hans": (unlabelled, HANS)})).evaluation) == 4


@pytest.mark.parametrize("rows", [pairs(1, 1, -1), pairs(-1)])
def test_training_needs_two_classes(task, rows):
    raises(task(rows), "task.train", "labelled pairs", str(NLI))


def test_an_evaluation_set_without_labels_is_named(task):
    raises(
        task(evaluation={"dev": (pairs(-1, None), {"group": "id"})}), "task.evaluation.dev", "dev.parquet", "none of 2"
    )


# ---- the real files


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="needs the real data files in ../shared/data")
def test_the_real_files_have_their_known_sizes_subsets_and_labels():
    values = yaml.safe_load((ROOT / "config" / "minilm-mnli.yaml").read_text())["task"] | {
        "folder": str(SHARED / "data")
    }
    for spec in values["evaluation"].values():
        spec.pop("pairs", None)  # all of them
    found = read_task(FilesTask.model_validate(values))
    sizes = {rule.name: 0 for rule in found.subsets}
    for row in found.evaluation:
        sizes[row["subset"]] += 1
    hans = [rule for rule in found.subsets if rule.name not in ("mnli_matched", "mnli_mismatched")]
    assert sizes == {"mnli_matched": 9815, "mnli_mismatched": 9832} | {rule.name: 1000 for rule in hans}
    assert len(hans) == 30
    families = {"l": "lexical_overlap", "s": "subsequence", "c": "constituent"}
    groups = {"e": "ood-entailment", "n": "ood"}
    for rule in hans:  # their names begin with the letters of family and label
        assert (rule.family, rule.group, rule.merge) == (families[rule.name[0]], groups[rule.name[1]], (0, 1, 1))
    assert all(row["label"] == "en".index(row["subset"][1]) for row in found.evaluation if row["family"])
    table = pq.read_table(SHARED / "data" / "mnli_dev_matched.parquet").to_pylist()
    matched = [row for row in found.evaluation if row["subset"] == "mnli_matched"]
    assert [(row["sentence1"], row["sentence2"], NLI[row["label"]]) for row in matched] == [
        (row["premise"], row["hypothesis"], row["label"]) for row in table
    ]


def test_only_the_pairs_of_one_label_are_used(task):
    found = read_task(task(evaluation={"dev": (pairs(*NLI, "neutral"), {"group": "ood", "only_label": "neutral"})}))
    assert [row["sentence1"] for row in found.evaluation] == ["p1", "p3"]
    assert found.origins["dev"] == ("dev.parquet", 2, 0, 0, 0, 0)
    with pytest.raises(DataError, match=r"task\.evaluation\.dev\.only_label = 'maybe' is not one of"):
        read_task(task(evaluation={"dev": (pairs("neutral"), {"group": "ood", "only_label": "maybe"})}))
