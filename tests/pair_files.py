"""Writers of files of sentence pairs in every format, and tasks that read these files."""

import csv
import json

from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.rows import read_rows

NLI = ["entailment", "neutral", "contradiction"]
HANS = ["entailment", "non-entailment"]
QQP = ["not_duplicate", "duplicate"]
# (labels, rows of two sentences and a label's number): what quoting, other scripts and missing data do to readers.
MADE_UP = [
    ('He said "no, never".', "n/a", 2),
    ("null", 'A "quote that never ends', 0),
    ("  Straße,\u2028naïve 東京 ", "b'not bytes", 1),
    ("It's 5; or 6.", "\\t is no tab", 0),
]


def tsv(path, header, rows):
    lines = ["\t".join(map(str, row)) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def glue_mnli(path, rows, labels):
    parses = ["sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse", "sentence2_parse"]
    header = ["index", "promptID", "pairID", "genre", *parses, "sentence1", "sentence2", "label1", "gold_label"]
    tsv(path, header, [[i, i, f"{i}e", "fiction", *"()()", a, b, "-", labels[y]] for i, (a, b, y) in enumerate(rows)])


def glue_qqp(path, rows, labels):
    header = ["id", "qid1", "qid2", "question1", "question2", "is_duplicate"]
    tsv(path, header, [[i, 2 * i, 2 * i + 1, *row] for i, row in enumerate(rows)])


def hans_txt(path, rows, labels):
    parses = ["sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse", "sentence2_parse"]
    header = ["gold_label", *parses, "sentence1", "sentence2", "pairID", "heuristic", "subcase", "template"]
    more = ("constituent", "cn_adverb", "temp1")
    tsv(path, header, [[labels[y], *"()()", a, b, f"ex{i}", *more] for i, (a, b, y) in enumerate(rows)])


def paws_tsv(path, rows, labels):
    tsv(path, ["id", "sentence1", "sentence2", "label"], [[i, *row] for i, row in enumerate(rows, 1)])


def paws_qqp_tsv(path, rows, labels):
    paws_tsv(path, [(str(a.encode()), str(b.encode()), y) for a, b, y in rows], labels)


def multinli_jsonl(path, rows, labels):
    lines = [{"sentence1": a, "sentence2": b, "gold_label": labels[y], "annotator_labels": []} for a, b, y in rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def plain_csv(path, rows, labels):
    with open(path, "w", newline="", encoding="utf-8-sig") as file:  # as Excel writes it
        csv.writer(file).writerows([("sentence1", "sentence2", "label"), *((a, b, labels[y]) for a, b, y in rows)])


def dataset(rows, labels):
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"sentence1": Value("string"), "sentence2": Value("string"), "label": ClassLabel(names=labels)})
    return Dataset.from_list([dict(zip(features, row, strict=True)) for row in rows], features)


def save_dataset(path, rows, labels):
    dataset(rows, labels).save_to_disk(path)


def paws_qqp_saved(path, rows, labels):
    save_dataset(path, [(str(a.encode()), str(b.encode()), y) for a, b, y in rows], labels)


def paws_qqp_parquet(path, rows, labels):
    class_label_parquet(path, [(str(a.encode()), str(b.encode()), y) for a, b, y in rows], labels)


def save_dataset_dict(path, rows, labels):
    from datasets import DatasetDict

    assert path.name == "dev"
    DatasetDict({"train": dataset(rows[:1], labels), "dev": dataset(rows, labels)}).save_to_disk(path.parent)


def class_label_parquet(path, rows, labels):
    dataset(rows, labels).to_parquet(path)


def paws_of_the_paper(folder):
    """What the user brings for config/paper-qqp-bert.yaml, with a pair of each label, in the folder of a run."""
    save_dataset(folder / "data/heuristic-core/data/datasets/paws-qqp", [("a", "b", 0), ("c", "d", 1)], QQP)


SENTENCES, QUESTIONS = ["sentence1", "sentence2"], ["question1", "question2"]
# Name -> (writer, file, columns of the sentences, column of the label).
FORMATS = {
    "glue-mnli": (glue_mnli, "dev_matched.tsv", SENTENCES, "gold_label"),
    "glue-qqp": (glue_qqp, "dev.tsv", QUESTIONS, "is_duplicate"),
    "hans": (hans_txt, "heuristics_evaluation_set.txt", SENTENCES, "gold_label"),
    "paws": (paws_tsv, "dev_and_test.tsv", SENTENCES, "label"),
    "paws-qqp": (paws_qqp_tsv, "dev_and_test.tsv", SENTENCES, "label"),
    "paws-qqp-saved": (paws_qqp_saved, "paws", SENTENCES, "label"),
    "paws-qqp-parquet": (paws_qqp_parquet, "paws.parquet", SENTENCES, "label"),
    "multinli": (multinli_jsonl, "multinli_1.0_dev_matched.jsonl", SENTENCES, "gold_label"),
    "csv": (plain_csv, "dev.csv", SENTENCES, "label"),
    "saved": (save_dataset, "folder", SENTENCES, "label"),
    "saved-split": (save_dataset_dict, "folder/dev", SENTENCES, "label"),
    "parquet": (class_label_parquet, "dev-00000.parquet", SENTENCES, "label"),
}


def make_task(folder, file, sentences=SENTENCES, label="label", labels=NLI, **more):
    split = {"file": file, "sentences": sentences, "label": label, **more}
    return FilesTask.model_validate(
        {
            "name": "t",
            "source": "files",
            "folder": str(folder),
            "labels": labels,
            "train": [split],
            "evaluation": {"dev": {**split, "group": "id"}},
        }
    )


def read_pairs(folder, file, sentences=SENTENCES, label="label", labels=NLI, **more):
    """(first, second, label's number) of each row of a split, as the workflow reads it."""
    task = make_task(folder, file, sentences, label, labels, **more)
    return [(*row.sentences, row.label) for row in read_rows(task, task.train[0], labels)[0]]
