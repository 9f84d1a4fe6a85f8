"""Whether a full model has learned its task, and what follows for the run."""

import json

import numpy as np
import pytest
from markupsafe import escape
from mentions import mentions, raises
from test_report import make_study, write_report
from test_scripts import script

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.analysis.chance import (
    _agreement,
    describe_outcome,
    judge_model,
    list_warnings,
    stops_study,
)
from heuristic_core.experiments.subnetworks.report.page import collect_warnings
from heuristic_core.tables.parquet import as_frame, as_table, read_rows, write_table

RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 3, "step": 40, "sparsity": 0.0, "seed": None, "repeat": 0}
REST = {"family": None, "example": 0, "template": None, "prediction": 0, "log_odds": 0.0, "logits": [0.0]}
CLASSES = ["agrees", "denies", "silent"]
ITSELF, TWO, TURNED = (0, 1, 2), (0, 0, 1), (1, 0, 0)


def predictions(*subsets, merge=ITSELF):
    """Rows of the full model. subsets: name, group, pairs of each label, and how many are right in all.

    Each label has its share of right answers, and its wrong ones are the other classes in turn. A list in the place of
    the number says how often each label is the answer to pairs of each label: [label][answer]. merge: of every subset.
    """
    rows = []
    for name, group, by_label, right in subsets:
        table = right if isinstance(right, list) else None
        edges = np.round(np.cumsum([0, *by_label]) / sum(by_label) * (0 if table else right)).astype(int)
        for label, count in enumerate(by_label):
            hits = edges[label + 1] - edges[label]
            others = [k for k in sorted(set(merge)) if k != label]
            wrong = [others[k % len(others)] for k in range(count - hits)]
            answers = np.repeat(range(len(table)), table[label]).tolist() if table else [label] * hits + wrong
            for answer in answers:
                about = {"subset": name, "group": group, "label": label, "correct": answer == label}
                rows.append(RUN | REST | about | {"correct_merged": False, "prediction": merge.index(answer)})
    return as_frame(as_table("predictions", rows))


def outcome(by_label, right, merge=ITSELF):
    row = judge_model(predictions(("dev", "id", by_label, right), merge=merge), {"dev": merge}, CLASSES)
    return row["outcome"], round(row["chance"], 1), row["constant"]


@pytest.mark.parametrize(
    ("by_label", "right", "merge", "expected"),
    [
        ((100, 100, 77), 147, ITSELF, ("learned", 36.1, "agrees")),
        ((131, 146), 147, (0, 0, 1), ("at chance", 52.7, "silent")),  # the case of RTE: 53.1 % of 277
        ((146, 131), 147, (0, 0, 1), ("at chance", 52.7, "agrees")),
        ((10, 10, 10), 10, ITSELF, ("unclear", 33.3, "agrees")),
        ((10, 10, 10), 16, ITSELF, ("learned", 33.3, "agrees")),  # few pairs suffice where they are clear
        ((100, 100), 70, TWO, ("below chance", 50.0, "agrees")),
        ((18, 2), [[18, 0], [2, 0]], ITSELF, ("unclear", 90.0, "agrees")),  # 5 points are left: too few pairs
        ((1800, 200), [[1800, 0], [200, 0]], ITSELF, ("at chance", 90.0, "agrees")),
        ((90, 10), [[80, 10], [2, 8]], ITSELF, ("weak", 90.0, "agrees")),  # it finds what is rare
        ((900, 100), [[810, 90], [90, 10]], ITSELF, ("at chance", 90.0, "agrees")),  # as rare, but anywhere
        ((90, 10), [[70, 20], [10, 0]], ITSELF, ("below chance", 90.0, "agrees")),
        ((1000,), [[970, 30], [0, 0]], ITSELF, ("unclear", 100.0, "agrees")),
        ((300,), 300, ITSELF, ("unclear", 100.0, "agrees")),  # of one label nothing can be told
    ],
)
def test_accuracy_is_judged_against_the_best_constant_class(by_label, right, merge, expected):
    assert outcome(by_label, right, merge) == expected


def test_every_pair_counts_as_its_subset_merges_and_only_in_domain_ones_count():
    """Label 0 of the second set is another one than that of the first: the class `denies` is right most often."""
    sets = [("a", "id", (20, 60, 20), 40), ("b", "id", (90, 10), 60), ("tricky", "ood", (500, 0), 500)]
    row = judge_model(predictions(*sets), {"a": ITSELF, "b": TURNED, "tricky": TWO}, CLASSES)
    assert (row["n"], row["accuracy"], row["chance"], row["constant"]) == (200, 50.0, 75.0, "denies")
    alone = judge_model(predictions(*sets), {"a": ITSELF, "b": TURNED, "tricky": TWO}, CLASSES, ["a", "tricky"])
    assert (alone["n"], alone["chance"], alone["constant"]) == (100, 60.0, "denies")
    none = judge_model(predictions(*sets), {"a": ITSELF, "b": TURNED, "tricky": TWO}, CLASSES, ["tricky"])
    assert none["n"] == 200


def test_what_is_said_names_the_seed_and_both_shares():
    row = judge_model(predictions(("dev", "id", (131, 146), 147), merge=TWO), {"dev": TWO}, CLASSES)
    assert mentions(describe_outcome(row), "seed 3", "step 40", 53.1, 277, 52.7, "'silent'") and stops_study(row)
    below = judge_model(predictions(("dev", "id", (100, 100), 70), merge=TWO), {"dev": TWO}, CLASSES)
    assert mentions(describe_outcome(below), "seed 3", 35.0, 200, 50.0) and stops_study(below)
    assert below["outcome"] == "below chance"
    few = judge_model(predictions(("dev", "id", (10, 10, 10), 10)), {"dev": ITSELF}, CLASSES)
    assert mentions(describe_outcome(few), 33.3, 30) and few["outcome"] == "unclear" and not stops_study(few)
    good = judge_model(predictions(("dev", "id", (50, 50), 99), merge=TWO), {"dev": TWO}, CLASSES)
    assert list_warnings([good, few]) == [describe_outcome(few)]


# ---- the job, and what a reader sees


def run(folder, by_label, right, **analysis):
    write_table("predictions", predictions(("dev", "id", by_label, right)), folder / "full.parquet")
    subsets = [{"name": "dev", "group": "id", "family": None, "merge": ITSELF}]
    (folder / "subsets.json").write_text(json.dumps({"labels": CLASSES, "subsets": subsets}))
    for name, role, output in (("chance", "table", "chance"), ("require_learning", "learned", "learned")):
        files = {"full": "full.parquet", "subsets": "subsets.json", role: output}
        options = [word for option, file in files.items() for word in (f"--{option}", str(folder / file))]
        script(name).main([*options, "--analysis", json.dumps(analysis)])


@pytest.mark.parametrize(
    ("by_label", "right", "key"),
    [((100, 100, 100), 101, "finetune.learning_rate"), ((90, 60, 50), 40, "merge")],
)
def test_a_model_at_chance_fails_the_job_unless_the_study_says_otherwise(tmp_path, by_label, right, key):
    with raises(InputError, key, "analysis.despite_chance"):
        run(tmp_path, by_label, right)
    assert not (tmp_path / "learned").exists()
    run(tmp_path, by_label, right, despite_chance=True)
    [row] = read_rows(tmp_path / "chance")
    assert (tmp_path / "learned").exists() and row["outcome"] in ("at chance", "below chance") and row["ft_seed"] == 3


@pytest.mark.parametrize(("right", "expected"), [(150, "learned"), (3, "unclear")])
def test_any_other_model_goes_on(tmp_path, right, expected):
    run(tmp_path, (100, 100, 100) if right > 9 else (3, 3, 3), right)
    assert [row["outcome"] for row in read_rows(tmp_path / "chance")] == [expected]
    assert (tmp_path / "learned").exists()


@pytest.mark.slow
def test_the_report_begins_with_it_and_the_terminal_ends_with_it(tmp_path):
    root = make_study(tmp_path / "tiny")
    rows = [
        judge_model(predictions(("dev", "id", labels, 100)), {"dev": ITSELF}, CLASSES)
        for labels in [(99, 99, 99), (60, 60)]
    ]
    write_table("chance", rows, root / "tables" / "chance.parquet")
    page, description = write_report(root).read_text(), describe_outcome(rows[0])
    at = page.index(str(escape(description[1:])))  # its first letter is a capital
    assert page.index("<h1>") < at < page.index('<ul class="tiles">') and page.count('class="warning"') == 1
    (warning,) = collect_warnings([root])
    assert mentions(warning, "tiny", description)


def test_independent_answers_go_with_the_labels_in_one_case_of_twenty():
    """The share of tests at 5 % that take answers for dependent which are drawn without regard to the labels."""
    rng, labels = np.random.default_rng(0), np.repeat([0, 1, 2], [70, 20, 10])
    sets = np.repeat(["a", "b"], 50)
    z = [_agreement(rng.choice(3, 100, p=[0.5, 0.3, 0.2]), labels, sets) for _ in range(2000)]
    assert 0.035 < np.mean(np.array(z) > 1.645) < 0.065 and abs(np.mean(z)) < 0.07 and abs(np.std(z) - 1) < 0.05
