"""Tasks of single sentences: files, encoding, words, models, and settings that need pairs."""

import pytest
import torch
from conftest import ROOT
from mentions import mentions, raises
from pydantic import ValidationError

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import ConfigError, read_config
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.counts import count_rows
from heuristic_core.data.encode import encode
from heuristic_core.data.files import read_task
from heuristic_core.data.pairs import get_sentences, make_pair_key, make_row
from heuristic_core.data.words import encode_word_pairs, to_encoded
from heuristic_core.experiments.subnetworks.config import parse_study
from heuristic_core.experiments.subnetworks.figures.targets import missing_study_requirement
from heuristic_core.interventions.attention import RELATIONS, batch_relations
from heuristic_core.models.special_tokens import find_length_problem
from heuristic_core.models.tokenizer import make_tokenizer

STUDY = parse_study(read_config(ROOT / "config.yaml"))
CSV = {"train": "text,label\nJudges slept.,good\nJudges sleeps.,bad\n", "dev": "text,label\nKings ran.,good\n"}


def task(folder, **changes):
    for name, text in CSV.items():
        (folder / f"{name}.csv").write_text(text)
    splits = {
        "train": [{"file": "train.csv", "sentences": ["text"]}],
        "evaluation": {"dev": {"file": "dev.csv", "sentences": ["text"], "group": "id"}},
    }
    return FilesTask(name="cola", source="files", folder=str(folder), labels=["bad", "good"], **(splits | changes))


@pytest.fixture(scope="module")
def tokenizer():
    return make_tokenizer(STUDY.model, STUDY.task)


def row(*sentences):
    return make_row("train", None, None, None, sentences, 0)


def test_files_of_one_sentence_are_read(tmp_path):
    sentences = read_task(task(tmp_path))
    assert sorted(map(get_sentences, sentences.train)) == [("Judges sleeps.",), ("Judges slept.",)]
    assert {row["sentence2"] for row in [*sentences.train, *sentences.evaluation]} == {None}
    _, dev = count_rows(sentences)
    assert dev["in_training_swapped"] == 0  # a sentence has no other order


@pytest.mark.parametrize("columns", [[], ["text", "text"], ["a", "b", "c"]])
def test_one_or_two_different_columns_are_named(tmp_path, columns):
    with pytest.raises(ValidationError) as error:
        task(tmp_path, train=[{"file": "train.csv", "sentences": columns}])
    assert error.value.errors()[0]["loc"] == ("train", 0, "sentences")


def test_one_and_two_columns_do_not_mix(tmp_path):
    pairs = {"dev": {"file": "dev.csv", "sentences": ["text", "label"], "group": "id"}}
    with raises(ValidationError, "task.evaluation.dev", "task.train.0", "['text']", "['text', 'label']"):
        task(tmp_path, evaluation=pairs)


def test_a_missing_column_is_named(tmp_path):
    with raises(InputError, "train.csv", "'sentence'", "text, label"):
        read_task(task(tmp_path, train=[{"file": "train.csv", "sentences": ["sentence"]}]))


def test_a_sentence_is_encoded_as_hugging_face_does(tokenizer):
    encoded = encode([row("judges slept"), row("kings saw judges")], tokenizer, 24)
    assert encoded.ids.tolist() == [*tokenizer("judges slept").input_ids, *tokenizer("kings saw judges").input_ids]
    assert encoded.types.tolist() == [0] * 9
    assert encoded.lengths.tolist() == [4, 5]


def test_a_sentence_is_cut_and_needs_room_for_a_token(tokenizer):
    assert encode([row("kings saw judges")], tokenizer, 4).ids.tolist()[-1] == tokenizer.sep_token_id
    with raises(InputError, "task.max_length = 2", 3):
        encode([row("kings")], tokenizer, 2)
    assert find_length_problem(STUDY.model, 3, sentences=1) is None
    assert mentions(find_length_problem(STUDY.model, 2, sentences=1), "2 special tokens", 3)


def test_a_sentence_and_a_pair_are_different_examples():
    assert make_pair_key(row("Kings  ran")) == ("kings ran",)
    assert make_pair_key(row("Kings ran", "")) != make_pair_key(row("Kings ran"))


def test_words_of_a_sentence_have_no_repetition(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    (words,) = encode_word_pairs(tmp_path, [("judges saw judges",)], 24)
    assert words.texts == [None, "judges", "saw", "judges", None]
    assert to_encoded([words]).ids.tolist() == tokenizer("judges saw judges").input_ids
    relations = batch_relations([words], torch.ones(1, 5, dtype=torch.bool))
    assert not relations[RELATIONS.index("repeated")].any()


@pytest.fixture
def single(tmp_path):
    """A study of single sentences: its settings."""
    values = read_config(ROOT / "config.yaml")
    values["task"] = task(tmp_path).model_dump(exclude_defaults=True) | {"max_length": 12}
    values["model"] = {"name": "tiny", "source": "pretrained", "folder": str(tmp_path)}
    values["figures"] = {}
    values["task"]["evaluation"]["odd"] = {"file": "dev.csv", "sentences": ["text"], "group": "ood"}
    return values


def test_a_study_of_single_sentences_has_no_table_of_repeated_words(single):
    study = parse_study(single)
    assert missing_study_requirement("table_overlap", study)
    assert missing_study_requirement("figure09", study) is None
    assert missing_study_requirement("table_overlap", STUDY) is None


@pytest.mark.parametrize(
    ("block", "setting", "key"),
    [
        ("analysis", {"example_pairs": [["Kings ran.", "Kings ran."]]}, "analysis.example_pairs"),
        ("lesion", {"control_draws": 2}, "lesion"),
    ],
)
def test_settings_for_pairs_are_refused(single, block, setting, key):
    single[block] = single.get(block, {}) | setting
    with raises(ConfigError, key):
        parse_study(single)


def test_all_rows_of_a_file_can_have_one_label(tmp_path):
    (tmp_path / "minimal.csv").write_text("bad,good\nJudges sleeps.,Judges slept.\nKings runs.,Kings ran.\n")
    split = {"file": "minimal.csv", "group": "ood"}
    evaluation = {column: split | {"sentences": [column], "every_label": column} for column in ("bad", "good")}
    rows = read_task(task(tmp_path, evaluation=evaluation)).evaluation
    assert [(row["subset"], row["label"]) for row in rows] == [("bad", 0)] * 2 + [("good", 1)] * 2
    with pytest.raises(ValidationError, match="every_label"):
        task(tmp_path, evaluation={"bad": split | {"sentences": ["bad"], "every_label": "ugly"}})
