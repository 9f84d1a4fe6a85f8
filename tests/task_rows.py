"""Rows of files of pairs as the tests of tasks have them, and a maker of tasks."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.files import DataError, read_task

NLI = ["entailment", "neutral", "contradiction"]


HANS = {
    "labels": ["entailment", "non-entailment"],
    "merge": {"contradiction": "non-entailment", "entailment": "entailment", "neutral": "non-entailment"},
    "split_by": "subcase",
    "templates": "template",
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


# Of the files that a test does not care for: they may give labels by name, whatever way the test's own files do.
OWN_LIST = {"labels": NLI}


def pairs(*labels):
    """One pair per label, told apart by its sentences."""
    return [{"premise": f"p{i}", "hypothesis": f"h{i}", "label": label} for i, label in enumerate(labels)]


@pytest.fixture
def task(tmp_path):
    """A maker of tasks: rows become Parquet files, further keywords fields of the task."""

    def make(train=None, evaluation=None, train_spec=None, **fields):
        evaluation = {"dev": (pairs("neutral"), {"group": "id", **OWN_LIST})} if evaluation is None else evaluation
        train_spec = OWN_LIST if train is None and train_spec is None else train_spec
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


def raises(made, *parts):
    """Reading the task fails with a message that holds all of `parts`."""
    with pytest.raises(DataError) as caught:
        read_task(made)
    assert [part for part in parts if part not in str(caught.value)] == [], str(caught.value)
