"""docs/own-task.md does what it says: its files and its configuration, on a tiny model, through the real workflow."""

import re
import shutil
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT
from families import make_model
from mentions import mentions, raises
from reduced import planned, snakemake

from heuristic_core.config.reading import ConfigError
from heuristic_core.data.files import DataError, read_task
from heuristic_core.experiments.subnetworks.config import parse_study
from heuristic_core.tables.parquet import read_rows, read_table

PAGE = (ROOT / "docs" / "own-task.md").read_text()


def block(language: str) -> str:
    """The page's one block of code in that language."""
    (result,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files of the page's script and the page's configuration."""
    folder = tmp_path_factory.mktemp("own")
    subprocess.run([sys.executable, ROOT / "docs/examples/make_reviews.py"], cwd=folder, check=True)
    (folder / "reviews.yaml").write_text(block("yaml"))
    return folder


def model_folder(folder, texts):
    """A BERT of 2 layers x 2 heads, with a tokenizer whose vocabulary is the words of `texts`."""
    from transformers import BertTokenizer

    words = sorted({word for text in texts for word in re.findall(r"\w+|[^\w\s]", text.lower())})
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])}
    tokenizer = BertTokenizer(vocab=vocabulary, do_lower_case=True, model_max_length=48)
    shape = {"num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 48}
    names = dict(enumerate(yaml.safe_load(block("yaml"))["task"]["labels"]))
    classes = {"id2label": names, "label2id": {name: index for index, name in names.items()}}
    make_model("bert", vocab_size=len(tokenizer), **shape, **classes).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.fixture(scope="module")
def studied(folder):
    """The page's study on a tiny model, run to its end: its configuration. Its tricky pairs are in two files; one has
    nothing but rows without a label, more than 1 MB of them."""
    texts = [path.read_text() for path in (folder / "reviews").iterdir()]
    model_folder(folder / "model", texts)
    rows = 12 * f"{'word ' * 20_000},Is it?,-,hope\n"
    (folder / "reviews/tricky-more.csv").write_text(f"review,question,label,kind\n{rows}")
    values = yaml.safe_load(block("yaml"))
    values["model"] = {"name": "tiny", "source": "pretrained", "folder": "model"}
    values["task"]["evaluation"]["tricky"]["file"] = "tricky*.csv"
    values["analysis"]["despite_chance"] = True  # so small a model learns nothing in 200 steps
    config = folder / "tiny.yaml"
    config.write_text(yaml.safe_dump(values, sort_keys=False))
    snakemake(folder, "--", "all_figures", config=config)
    return config


@pytest.mark.slow
def test_the_page_goes_from_its_files_to_the_report(folder, studied):
    root = folder / "results/reviews"
    counts = read_rows(root / "tables/splits.parquet")
    assert [row["subset"] for row in counts] == ["train", "dev", "direct", "hearsay", "hope", "negated"]
    assert [row["group"] for row in counts] == [None, "id", "ood-entailment", "ood", "ood", "ood-entailment"]
    assert [row["used"] for row in counts[1:]] == [300, 60, 60, 60, 60]
    assert {row["in_training"] for row in counts[1:]} == {0}  # drop_overlap
    left_out = [counts[0][key] for key in ("unlabelled", "overlapping")]
    assert left_out == [1, 99] and counts[0]["used"] == counts[0]["rows"] - sum(left_out)
    logged = (root / "logs/sentences.log").read_text()
    for line in block("log").splitlines():
        assert line in logged
    accuracy = read_table(root / "tables/accuracy.parquet")
    assert set(accuracy["subset"]) == {"dev", "direct", "hearsay", "hope", "negated"}
    assert "tricky*.csv" in (root / "report.html").read_text()


# ---- what reruns, as docs/reruns.md says it; each leaves the files as they were

DESCENDANTS = {"sentences", "encode", "finetune", "full_model", "prune", "evaluate", "attention", "report"}


@pytest.fixture
def files(folder, studied, tmp_path):
    """The folder of the files of pairs; what a test does to it is undone."""
    kept = shutil.copytree(folder / "reviews", tmp_path / "kept")
    yield folder / "reviews"
    shutil.rmtree(folder / "reviews")
    shutil.copytree(kept, folder / "reviews")


@pytest.mark.slow
def test_another_row_makes_the_pairs_again(folder, studied, files):
    with open(files / "dev.csv", "a", newline="") as file:
        file.write("The lamp is old.,Is the lamp old?,agrees\r\n")
    assert planned(folder, studied).keys() >= DESCENDANTS


@pytest.mark.slow
def test_new_timestamps_of_files_of_pairs_run_nothing(folder, studied, files):
    assert max(path.stat().st_size for path in files.iterdir()) > 1_000_000
    for path in files.iterdir():
        path.touch()
    assert planned(folder, studied) == {}


@pytest.mark.slow
@pytest.mark.parametrize("more", [True, False])
def test_another_file_that_a_pattern_matches_makes_the_pairs_again(folder, studied, files, more):
    if more:
        shutil.copy(files / "tricky-more.csv", files / "tricky-most.csv")
    else:
        (files / "tricky-more.csv").unlink()
    assert planned(folder, studied).keys() >= DESCENDANTS


@pytest.mark.slow
@pytest.mark.parametrize("dry", [["--dry-run"], []])
def test_a_file_that_is_gone_is_named_before_anything_made_from_it_is_removed(folder, studied, files, dry):
    (files / "dev.csv").rename(files.parent / "dev.csv")
    done = snakemake(folder, *dry, config=studied, check=False)
    assert done.returncode
    lines = (done.stdout + done.stderr).splitlines()
    assert any(mentions(line, "task.evaluation.dev", "reviews/dev.csv", "task.folder", "'reviews'") for line in lines)
    assert "Traceback" not in done.stderr
    (files.parent / "dev.csv").rename(files / "dev.csv")
    assert planned(folder, studied) == {}


@pytest.mark.slow
def test_another_test_set_runs_everything(folder, studied, tmp_path):
    values = yaml.safe_load(studied.read_text())
    values["task"]["evaluation"]["more"] = values["task"]["evaluation"]["dev"]
    more = tmp_path / "more.yaml"
    more.write_text(yaml.safe_dump(values))
    for name in ("reviews", "model"):  # without results
        (tmp_path / name).symlink_to(folder / name)
    assert planned(folder, more).keys() - {"describe"} == planned(tmp_path, studied).keys() - {"describe"}


def faulty(values, *keys, value):
    """The configuration with another value under `keys`."""
    inner = values
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return values


TRICKY = ("task", "evaluation", "tricky")
# Name -> keys, their value, and what the message mentions.
FAULTS = {
    "labels that YAML takes for truth values": (
        ("task", "labels"),
        [True, False, "silent"],
        ("reviews.yaml", "task.labels.0", "True", "task.labels.1", "False"),
    ),
    "an unknown key": (
        (*TRICKY, "splitby"),
        "kind",
        ("reviews.yaml", "task.evaluation.tricky.splitby", "'kind'", "split_by"),
    ),
    "no such file": (
        ("task", "evaluation", "dev", "file"),
        "development.csv",
        ("reviews/development.csv", "task.folder", "'reviews'"),
    ),
    "no such column": (
        ("task", "evaluation", "dev", "sentences"),
        ["text", "question"],
        ("reviews/dev.csv", "'text'", "review", "question", "answer"),
    ),
    "another label": (
        ("task", "labels"),
        ["agree", "denies", "silent"],
        ("reviews/train.csv", 8, "answer", "'agrees'", "agree", "denies", "silent", "`labels`", "`merge`"),
    ),
    "no merge": (
        (*TRICKY, "merge"),
        None,
        ("task.evaluation.tricky", "merge", "agrees", "denies", "silent", "said", "unsaid"),
    ),
    "no such value": (
        (*TRICKY, "where"),
        {"kind": "rumour"},
        ("tricky.csv", "where.kind", "'rumour'", "direct", "hearsay", "hope", "negated"),
    ),
    "a column that mixes groups": (
        (*TRICKY, "split_by"),
        "question",
        ("task.evaluation.tricky", "tricky.csv", "'question'", "'Is the bag fast?'", "`split_by`", "`only_label`"),
    ),
}
RAGGED = ("reviews/dev.csv", 302, 5, 3)


def test_the_page_has_messages_of_these_faults():
    named = [tokens for *_, tokens in FAULTS.values()] + [RAGGED]
    for message in block("text").strip().split("\n\n"):
        assert any(mentions(message, *tokens) for tokens in named), message


@pytest.mark.parametrize(("keys", "value", "named"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named(folder, monkeypatch, keys, value, named):
    monkeypatch.chdir(folder)
    values = faulty(yaml.safe_load(block("yaml")), *keys, value=value)
    with pytest.raises((ConfigError, DataError)) as caught:
        read_task(parse_study(values, "reviews.yaml").task)
    assert mentions(str(caught.value), *named), str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["no such file", "no such column", "another label", "no merge"])
def test_a_dry_run_says_it_before_anything_runs(folder, tmp_path, fault):
    shutil.copytree(folder / "reviews", tmp_path / "reviews")
    keys, value, named = FAULTS[fault]
    values = faulty(yaml.safe_load(block("yaml")), *keys, value=value)
    values["model"] = {"name": "tiny", "source": "pretrained", "folder": "models"}
    (tmp_path / "models" / "one" / "1_Pooling").mkdir(parents=True)
    for place in ("one", "one/1_Pooling"):  # as in the folder of a sentence encoder
        (tmp_path / "models" / place / "config.json").write_text("{}")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(values))
    done = snakemake(tmp_path, "--dry-run", config=tmp_path / "mine.yaml", check=False)
    messages = re.findall(r"^  (model\..*|task\..*)$", done.stdout + done.stderr, re.MULTILINE)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert mentions(messages[0], "model.folder", "'models'", "'models/one'")
    assert len(messages) == 1 + (3 if fault == "another label" else 1)  # of the same file in each set, and of merge
    assert any(mentions(line, *named) for line in messages[1:]), messages
    assert not (tmp_path / "results").exists()


def test_a_ragged_line_is_named(folder, monkeypatch, tmp_path):
    shutil.copytree(folder / "reviews", tmp_path / "reviews")
    with open(tmp_path / "reviews/dev.csv", "a", newline="") as file:
        file.write("Cheap, loud, and heavy.,Is the fan loud?,agrees\r\n")
    monkeypatch.chdir(tmp_path)
    with raises(DataError, *RAGGED):
        read_task(parse_study(yaml.safe_load(block("yaml"))).task)
