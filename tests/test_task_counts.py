"""What is counted of a task's pairs, and which pairs a sample has."""

import logging

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from conftest import ROOT
from mentions import mentions
from task_rows import HANS, HANS_ROWS, named, pairs, raises

from heuristic_core.config.generated import GeneratedTask
from heuristic_core.data.counts import count_rows, log_counts
from heuristic_core.data.files import read_task
from heuristic_core.data.sentences import load_sentences


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
    dev = [same_pair("x", "y", 0), same_pair("a dog", "sat", 1), same_pair("z", "y", -1)]
    groups = HANS["group_by_label"] | {"entailment": "ood"}
    groups = {"group_by_label": groups, "templates": None}
    made = task(train, {"hans": (hans, HANS | groups), "dev": (dev, {"group": "id"})})
    pairs = read_task(made)
    counts = count_rows(pairs)
    assert [tuple(value for value in row.values() if value != 0) for row in counts] == [
        ("train", "train", None, "train.parquet", 4, 1, 3, 1, None, None, None),
        ("hans", "s", "ood", "hans.parquet", 4, 4, 1, 3, 2, 1),
        ("dev", "dev", "id", "dev.parquet", 3, 1, 2, 1),
    ]
    with caplog.at_level(logging.INFO, "heuristic_core"):
        log_counts(pairs, counts)
    of_train, of_hans, *_ = caplog.messages
    assert mentions(of_train, "train", "train.parquet", 4, 3, 1)
    assert mentions(of_hans, "s", "hans.parquet", 4, 1, 3, 2)


def test_torn_lines_are_counted_once_and_belong_to_no_subset(task, tmp_path, caplog):
    header = "premise\thypothesis\tlabel\tsubcase\theuristic"
    for name, torn in (("a", 1), ("b", 2)):
        rows = [f"p{i}\th{i}\t{i % 2}\ts{i % 2}\tf{i % 2}" for i in range(2000)]
        rows[700:700] = ["half a question"] * torn
        (tmp_path / f"{name}.tsv").write_text("\n".join([header, *rows]) + "\n")
    made = task(evaluation={"hans": ([], HANS | {"file": "*.tsv", "templates": None})})
    pairs = read_task(made)
    train, *subsets = counts = count_rows(pairs)
    assert train["torn"] == 0
    result = [(row["set"], row["subset"], row["rows"], row["torn"], row["used"]) for row in subsets]
    assert result == [("hans", "s0", 2000, 0, 2000), ("hans", "s1", 2000, 0, 2000), ("hans", None, 3, 3, 0)]
    with caplog.at_level(logging.INFO, "heuristic_core"):
        log_counts(pairs, counts)
    assert any(mentions(message, "hans", "*.tsv", 3, 0) for message in caplog.messages)


def test_of_a_sample_what_is_used_is_counted(task):
    rows = [same_pair("p", "h", i % 2) for i in range(30)]
    counts = count_rows(read_task(task(rows, {"dev": (rows, {"group": "id", "pairs": 5})}, train_pairs=7)))
    keys = ("rows", "used", "duplicates", "in_training", "in_training_same_label")
    assert [[row[key] for key in keys] for row in counts] == [[30, 7, 6, None, None], [30, 5, 4, 5, 5]]


def test_generated_pairs_are_counted_too():
    block = yaml.safe_load((ROOT / "tests/studies/reduced.yaml").read_text())["task"]
    train, *subsets = count_rows(load_sentences(GeneratedTask.model_validate(block)))
    assert (train["source"], train["rows"], train["used"]) == ("generated", 2000, 2000)
    assert [row["used"] for row in subsets] == [30] + [10] * (len(subsets) - 1)
    assert [row["in_training"] for row in subsets] == [0] * len(subsets)  # their words are held out of training


def test_overlap_may_be_left_out_of_training(task):
    train = [same_pair("A", "b", 0), same_pair("c", "d", 1), same_pair("e", "f", 2)]
    sets = {"dev": ([same_pair("a ", "B", 2), same_pair("d", "c", 0)], {"group": "id"})}
    assert sorted(named(read_task(task(train, sets)).train)) == ["A", "c", "e"]
    assert sorted(named(read_task(task(train, sets, drop_overlap=True)).train)) == ["c", "e"]
    raises(task(train, sets, drop_overlap=True, train_pairs=3), "task.train_pairs", "3", "2")


def test_labels_that_never_occur_are_warned_of(task, caplog):
    sets = {"dev": (pairs(0, 1, 2), {"group": "id"}), "some": (pairs(1, 2), {"group": "ood"})}
    result = read_task(task(pairs(0, 2), sets))
    assert not caplog.records  # the dry run reads, too
    log_counts(result, [])
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    evaluation_warning, training_warning = warnings
    assert mentions(evaluation_warning, "task.evaluation.some", "some.parquet", "'entailment'")
    assert mentions(training_warning, "task.train", "'neutral'")


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
    result = read_task(both).train
    assert named(result) == {f"p{i}": 0 for i in range(30)} | {f"q{i}": 1 for i in range(30)}
    assert 0 < sum(row["label"] for row in result[:30]) < 30


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
    result = read_task(task(evaluation={"hans": (HANS_ROWS, HANS | {"pairs": 1})}))
    assert [row["subset"] for row in result.evaluation] == ["ce_x", "cn_x", "ln_b-a"]
