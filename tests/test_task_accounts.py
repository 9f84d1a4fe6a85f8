"""Every row of every file is accounted for: used, or left out for a reason."""

import csv
import json
import random
import sys
import unicodedata

import pytest
from amounts import amount
from mentions import mentions
from task_rows import NLI, pairs, raises

from heuristic_core.config.requirements import DataRequirements
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.counts import count_rows, list_unmet_requirements, log_counts
from heuristic_core.data.files import read_task
from heuristic_core.data.pairs import REASONS, make_pair_key, normalise_sentence
from heuristic_core.data.preview import find_task_errors

# ---- the account

COLUMNS = ["first", "second", "label", "kind", "source"]


def random_row(rng):
    word, label = rng.choice("abcdefgh"), rng.choice([*NLI, "-", ""])
    return {
        "first": rng.choice([f"{word} {rng.randrange(999)}", f"{word.upper()}  {rng.randrange(999)}"]),
        "second": "x" if label in NLI else rng.choice(["x", " "]),
        "label": label,
        "kind": rng.choice(["k1", "k2", "k3"]),
        "source": rng.choice(["web", "book"]),
    }


def write(path, rows, torn=0):
    """The rows in the format of the path's ending; in a TSV file, `torn` further lines that are no rows."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".csv":
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *(row.values() for row in rows)])
    else:
        lines = ["\t".join(row.values()) for row in rows] + ["half a row"] * torn
        path.write_text("\n".join(["\t".join(COLUMNS), *lines]) + "\n")


@pytest.mark.sampled
def test_of_random_files_rows_are_those_used_and_those_left_out(tmp_path):
    split = {"sentences": ["first", "second"]}
    for case in range(amount(40)):
        rng = random.Random(case)
        sizes = {"train.csv": 200, "more.jsonl": 150, "dev.jsonl": 40, "kinds.tsv": 3000, "one.csv": 80}
        rows = {name: [random_row(rng) for _ in range(size + rng.randrange(20))] for name, size in sizes.items()}
        torn = rng.randrange(4)
        for name, of_file in rows.items():
            write(tmp_path / name, of_file, torn)
        where = rng.choice([{}, {"source": "web"}, {"source": ["book"], "kind": "k[12]"}])
        spec = {
            "name": "t", "source": "files", "folder": str(tmp_path), "labels": NLI, "seed": case,
            "drop_overlap": rng.random() < 0.5, "train_pairs": rng.choice([None, 5]),
            "train": [
                split | {"file": "train.csv", "where": where},
                split | {"file": "more.jsonl", "pairs": rng.choice([None, 9])},
            ],
            "evaluation": {
                "dev": split | {"file": "dev.jsonl", "group": "id", "pairs": rng.choice([None, 7])},
                "kinds": split
                | {"file": "kinds.tsv", "split_by": "kind", "group": "ood", "where": where}
                | {"pairs": rng.choice([None, 50]), "only_label": rng.choice([None, "neutral"])},
                "one": split | {"file": "one.csv", "group": "ood", "only_label": "entailment"},
            },
        }  # fmt: skip
        result = read_task(FilesTask.model_validate(spec))
        counts = count_rows(result)
        for row in counts:
            assert row["rows"] == row["used"] + sum(row[reason] for reason in REASONS), row
        read = {
            name: sum(row["rows"] for row in counts if row["set"] == name) for name in ("train", *spec["evaluation"])
        }
        assert read == {
            "train": len(rows["train.csv"]) + len(rows["more.jsonl"]),
            "dev": len(rows["dev.jsonl"]),
            "kinds": len(rows["kinds.tsv"]) + torn,
            "one": len(rows["one.csv"]),
        }
        used = {row["subset"]: row["used"] for row in counts if row["used"]}
        assert used.pop("train") == len(result.train)
        assert used == {
            rule.name: sum(row["subset"] == rule.name for row in result.evaluation) for rule in result.subsets
        }
        unlabelled = sum(row["label"] in ("-", "") for row in rows["one.csv"])
        (account,) = (row for row in counts if row["set"] == "one")
        assert account["unlabelled"] == unlabelled
        assert account["other_label"] == len(rows["one.csv"]) - unlabelled - sum(
            row["label"] == "entailment" for row in rows["one.csv"]
        )


@pytest.mark.parametrize(
    ("lost", "warned"),
    [(1, False), (2, True)],
)
def test_more_than_one_row_in_a_hundred_left_out_is_told(task, lost, warned):
    rows = [row | ({"label": "-"} if index < lost else {}) for index, row in enumerate(pairs(*[*NLI, NLI[0]] * 25))]
    result = read_task(task(evaluation={"dev": (rows, {"group": "id"})}))
    left_out = [warning for warning in result.warnings if mentions(warning, "task.evaluation.dev", "dev.parquet", 100)]
    assert len(left_out) == warned and all(mentions(warning, lost) for warning in left_out)
    assert result.accounts[1].reasons["unlabelled"] == lost


def test_rows_left_out_as_asked_for_are_no_warning(task):
    rows = [row | {"genre": "a" if index else "b"} for index, row in enumerate(pairs(*NLI * 3))]
    made = task(
        evaluation={"dev": (rows, {"group": "id", "where": {"genre": "b"}})}, train=pairs(*NLI * 9), train_pairs=20
    )
    assert not [warning for warning in read_task(made).warnings if mentions(warning, "task.evaluation.dev", 9)]


# ---- subsets without a pair

KINDS = {"group": "ood", "split_by": "kind", "prefix": "x-"}


def kinds(*faults):
    """Pairs of kind sound, and for each of `faults` a kind of which every row has it."""
    rows = [row | {"kind": "sound"} for row in pairs(*NLI)]
    for index, fault in enumerate(faults):
        rows += [row | {"kind": f"lost{index}"} | fault for row in pairs(*NLI)]
    return rows


def test_a_subset_without_a_pair_is_told_and_is_an_error_where_it_is_asked_for(task):
    made = task(evaluation={"dev": (pairs(*NLI), {"group": "id"}), "some": (kinds({"label": "-"}), KINDS)})
    result = read_task(made)
    assert [rule.name for rule in result.subsets] == ["dev", "x-sound"]
    (lost,) = (row for row in count_rows(result) if row["subset"] == "x-lost0")
    assert (lost["set"], lost["group"], lost["rows"], lost["used"], lost["unlabelled"]) == ("some", None, 3, 0, 3)
    (lost,) = (warning for warning in result.warnings if mentions(warning, "'x-lost0'"))
    assert mentions(lost, "task.evaluation.some", "some.parquet", 3)
    requested = {"analysis.subsets": ["dev", "x-sound"], "figures.table3.subsets": ["x-lost0"]}
    (message,) = list_unmet_requirements(result, DataRequirements(subsets=requested))
    assert mentions(message, "figures.table3.subsets", "'x-lost0'", 3)
    assert find_task_errors(made, DataRequirements(subsets=requested)) == [message]


def test_a_group_without_a_pair_is_an_error_with_its_lost_subsets(task):
    ood = {"group_by_label": {label: "ood" if label == "neutral" else "ood-entailment" for label in NLI}}
    rows = [
        {"premise": "a", "hypothesis": "b", "label": label, "kind": kind} for label, kind in ((NLI[0], "k"), ("-", "n"))
    ]
    made = task(evaluation={"dev": (pairs(*NLI), {"group": "id"}), "some": (rows, KINDS | {"group": None} | ood)})
    (message,) = find_task_errors(made, DataRequirements(groups=("id", "ood")))
    assert mentions(message, "task.evaluation", "'ood'", "'x-n'", 1)
    assert list_unmet_requirements(read_task(made), DataRequirements(groups=("id", "ood"))) == [message]


def test_of_many_subsets_without_a_pair_some_are_named(task):
    result = read_task(task(evaluation={"some": (kinds(*[{"label": None}] * 9), KINDS)}))
    (lost,) = (warning for warning in result.warnings if mentions(warning, "'x-lost4'"))
    assert "'x-lost5'" not in lost and mentions(lost, 4)


@pytest.mark.parametrize("entry", ["train", "kinds"])
def test_a_subset_called_as_the_training_pairs_is_told_apart_from_them(task, caplog, entry):
    rows = [row | {"kind": "train"} for row in pairs(*NLI)] + [row | {"kind": "b"} for row in pairs("neutral")]
    spec = {"group": "ood", "split_by": "kind"} if entry == "kinds" else {"group": "ood"}
    made = task(pairs(*NLI * 3), {"kinds": (rows, spec), "dev": (pairs("neutral"), {"group": "id"})})
    made = made.model_copy(update={"evaluation": {entry: made.evaluation["kinds"], "dev": made.evaluation["dev"]}})
    assert find_task_errors(made, DataRequirements(subsets={"analysis.subsets": ["train", "dev"]})) == []
    (message,) = find_task_errors(made, DataRequirements(subsets={"analysis.subsets": ["x"]}))
    assert mentions(message, "analysis.subsets", "'x'")
    result = read_task(made)
    training, *others = count_rows(result)
    assert (training["used"], training["group"], training["in_training"]) == (9, None, None)
    (account,) = (row for row in others if row["subset"] == "train")
    assert (account["used"], account["group"]) == (3 if entry == "kinds" else 4, "ood") and account[
        "in_training"
    ] == account["used"]
    caplog.set_level("INFO", "heuristic_core")
    log_counts(result, [training, *others])
    assert [message.split(" (")[0] for message in caplog.messages if "train.parquet" in message][:1] == ["train"]
    assert any(mentions(message, "train", "kinds.parquet") for message in caplog.messages)


def test_a_lost_subset_called_as_the_training_pairs_is_known(task):
    rows = kinds() + [row | {"kind": "train", "label": None} for row in pairs(*NLI)]
    made = task(evaluation={"dev": (pairs(*NLI), {"group": "id"}), "some": (rows, KINDS | {"prefix": None})})
    (message,) = find_task_errors(made, DataRequirements(subsets={"analysis.subsets": ["train"]}))
    assert "analysis.subsets" in message and "'train'" in message and "some.parquet" in message


# ---- the same pair

SAME = {
    "decomposed": ("Émile naïve", "E\u0301mile nai\u0308ve"),
    "Hangul": ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
    "zero width": ("a kettle", "a ket\u200btle\ufeff"),
    "soft hyphen": ("a kettle", "a ket\u00adtle"),
    "direction": ("a kettle", "\u200ea\u202c kettle"),
    "no-break space": ("a kettle", "a\u00a0\u202fkettle"),
    "ligature": ("a ﬁne office", "A fine oﬃce"),
    "full width": ("a kettle 1", "ａ　ｋｅｔｔｌｅ １"),
    "variation": ("❤ it", "❤\ufe0f it"),
    "case": ("STRASSE", "straße"),
    "order of marks": ("q\u0323\u0307", "q\u0307\u0323"),
}


@pytest.mark.parametrize(("sentence", "twin"), SAME.values(), ids=SAME)
def test_sentences_that_look_the_same_are_the_same(sentence, twin):
    assert normalise_sentence(sentence) == normalise_sentence(twin) != ""


@pytest.mark.parametrize(("sentence", "other"), [("a", "á"), ("ab", "a b"), ("no.", "no"), ("I", "ı"), ("に", "は")])
def test_other_sentences_are_others(sentence, other):
    assert normalise_sentence(sentence) != normalise_sentence(other)


def test_every_format_character_counts_for_nothing():
    formats = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) == "Cf"]
    assert len(formats) > 150 and not normalise_sentence("".join(formats))


@pytest.mark.parametrize("kind", ["decomposed", "soft hyphen", "full width"])
def test_twins_are_left_out_of_training(task, kind):
    sentence, twin = SAME[kind]
    train = [*pairs(*NLI), {"premise": sentence, "hypothesis": "h", "label": NLI[0]}]
    sets = {"dev": ([{"premise": twin, "hypothesis": "H", "label": NLI[0]}], {"group": "id"})}
    result = read_task(task(train, sets, drop_overlap=True))
    assert len(result.train) == 3 and result.accounts[0].reasons["overlapping"] == 1
    assert make_pair_key({"sentence1": sentence, "sentence2": "h"}) not in map(make_pair_key, result.train)


# ---- nothing is left to train on


def test_that_drop_overlap_leaves_no_training_pair_is_told_with_the_sets(task):
    train = pairs(*NLI, *NLI)
    made = task(train, {"dev": (train[:4], {"group": "id"}), "hard": (train[2:], {"group": "ood"})}, drop_overlap=True)
    named = ("task.drop_overlap", "6", "4 in 'dev'", "2 in 'hard'")
    raises(made, *named)
    raises(made.model_copy(update={"train_pairs": 3}), *named)
    assert mentions(find_task_errors(made)[0], *named)


def test_that_drop_overlap_leaves_one_label_is_told(task):
    train = pairs("neutral", "entailment", "neutral", "entailment")
    made = task(train, {"dev": (train[1::2], {"group": "id"})}, drop_overlap=True)
    raises(made, "task.drop_overlap", "2", "4", "'dev'", "'neutral'")


def test_that_no_row_of_training_has_a_label_is_told_with_the_counts(task):
    raises(task(pairs("-", "-", None)), "task.train", "0", "3")


# ---- labels of the groups that J compares

SIDES = {"ood": ["neutral"], "ood-entailment": ["entailment"]}


@pytest.mark.parametrize(
    ("sides", "named"),
    [
        (SIDES, ()),
        (SIDES | {"ood": ["neutral", "contradiction"]}, ("'ood'", 2, "group_by_label")),
        (SIDES | {"ood-entailment": ["entailment", "neutral"]}, ("'ood-entailment'", 2)),
        (SIDES | {"ood-entailment": ["neutral"]}, ("same label",)),
        ({"ood": ["neutral", "entailment"]}, ()),  # another corpus, without J
    ],
)
def test_groups_that_j_compares_have_one_label_each_and_not_the_same(task, sides, named):
    sets = {group.replace("-", "_"): (pairs(*labels), {"group": group}) for group, labels in sides.items()}
    made = task(evaluation={"dev": (pairs(*NLI), {"group": "id"})} | sets)
    messages = find_task_errors(made, DataRequirements())
    assert len(messages) == bool(named)
    assert all(mentions(message, "task.evaluation", *named) for message in messages)


def test_labels_are_compared_by_the_classes_that_count_as_them(task):
    """One file calls entailment 0, the other 1."""
    ood = {"group": "ood", "labels": ["no", "yes"]}
    ood |= {"merge": {"entailment": "yes", "neutral": "no", "contradiction": "no"}}
    mirror = {"group": "ood-entailment", "labels": ["yes", "no"], "merge": ood["merge"]}
    sets = {"wrong": (pairs("no"), ood), "right": (pairs("yes"), mirror)}
    made = task(evaluation={"dev": (pairs(*NLI), {"group": "id"})} | sets)
    assert find_task_errors(made, DataRequirements()) == []
