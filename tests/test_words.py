"""Words found behind the tokens of small tokenizers of several kinds, and the same tokens as encoding stores."""

import importlib.util

import pytest
from conftest import ROOT
from mentions import raises
from small_tokenizers import KINDS

from heuristic_core.common.errors import InputError
from heuristic_core.data.encode import encode
from heuristic_core.data.sentences import load_sentences
from heuristic_core.data.words import encode_word_pairs, to_encoded
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.models.tokenizer import make_tokenizer

STUDY, MINILM = load_study(ROOT / "config.yaml"), load_study(ROOT / "config" / "minilm-mnli.yaml")
PAIRS = [
    ("The doctor advised  sailing doctors.", "sailing the Doctor"),
    ("Sailing", "DOCTOR, doctor; café [MASK] and unheard-of words, far too many for so short a length"),
    ("the the the the the the the the the the", ""),
]


@pytest.fixture
def find_pairs(tmp_path):
    """Words of pairs by a tokenizer that was saved."""

    def find(tokenizer, pairs, max_length=64):
        tokenizer.save_pretrained(tmp_path)
        return encode_word_pairs(tmp_path, pairs, max_length)

    return find


def rows(pairs):
    return [{"sentence1": a, "sentence2": b, "label": 0, "subset": "x", "template": None} for a, b in pairs]


def assert_same_tokens(words, encoded):
    again = to_encoded(words)
    for name in ("ids", "types", "special", "offsets"):
        assert getattr(again, name).tolist() == getattr(encoded, name).tolist(), name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_length", [9, 64])
@pytest.mark.parametrize("encoded_before_saving", [True, False])
def test_tokens_are_those_that_encoding_stores(find_pairs, kind, max_length, encoded_before_saving):
    tokenizer = KINDS[kind]()
    if encoded_before_saving:  # leaves its truncation in the saved file, as in the workflow
        tokenizer(*PAIRS[0], truncation="longest_first", max_length=5)
    words = find_pairs(tokenizer, PAIRS, max_length)
    assert_same_tokens(words, encode(rows(PAIRS), tokenizer, max_length))


def test_tokens_are_those_of_the_generated_task(find_pairs):
    task = STUDY.task.model_copy(update={"train_pairs": 10, "id_pairs": 30, "pairs_per_subcase": 5})
    pairs, tokenizer = load_sentences(task), make_tokenizer(STUDY.model, task)
    texts = [(row["sentence1"], row["sentence2"]) for row in pairs.evaluation]
    words = find_pairs(tokenizer, texts, task.max_length)
    assert_same_tokens(words, encode(pairs.evaluation, tokenizer, task.max_length, pairs.subsets))
    assert [text for text in words[0].texts if text] == " ".join(texts[0]).lower().split()


@pytest.mark.skipif(
    importlib.util.find_spec(MINILM.model.package) is None,
    reason="the package that carries MiniLM is not installed; `make minilm` installs it",
)
def test_tokens_are_those_of_a_real_tokenizer(find_pairs):
    tokenizer = make_tokenizer(MINILM.model, MINILM.task)
    pairs = [*PAIRS, ("The psychoanalysts’ well-being — naïve?", "Psychoanalysts' " * 40)]
    words = find_pairs(tokenizer, pairs, 64)
    assert_same_tokens(words, encode(rows(pairs), tokenizer, 64))
    assert {"psychoanalysts", "naïve", "well", "-"} <= set(words[-1].texts)


@pytest.mark.parametrize(
    ("kind", "tokens"),
    [
        ("wordpiece", "[CLS] the Doc ·tor sail ·ing . [SEP] doc ·tor ·s [SEP]"),
        ("gpt2", "the ␣ ·D ·o ·c ·t ·o ·r ␣ ·s ·a ·i ·l ·ing . doc ·t ·o ·r ·s"),
        ("whole", "the ␣ ·Doc ·tor sail ·ing . doc ·tor ·s"),
    ],
)
def test_tokens_to_print_show_which_go_on_with_a_word(find_pairs, kind, tokens):
    pair = find_pairs(KINDS[kind](), [("the Doctor sailing.", "doctors")])[0]
    assert " ".join(pair.tokens) == tokens


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_whole_and_lower_case(find_pairs, kind):
    pair = find_pairs(KINDS[kind](), [("The doctor sailing", "doctors the DOCTOR")])[0]
    expected = ["the", "doctor", "sailing", "doctors", "the", "doctor"]
    ordinary = [k for k, word in enumerate(pair.words) if word is not None]
    assert sorted({pair.words[k] for k in ordinary}) == list(range(6))
    for k in ordinary:
        assert pair.texts[k] == expected[pair.words[k]]
        assert pair.sentences[k] == (pair.words[k] > 2)
    for word, text in enumerate(expected):
        parts = [pair.tokens[k] for k in ordinary if pair.words[k] == word]
        assert "".join(parts).replace("·", "").replace("␣", "").lower() == text
        assert [part.startswith("·") for part in parts] == [False] + [True] * (len(parts) - 1)
    special = [k for k in range(len(pair.ids)) if k not in ordinary]
    assert bool(special) == (kind in ("wordpiece", "roberta"))
    assert all((pair.texts[k], pair.sentences[k]) == (None, None) for k in special)


def test_white_space_and_bytes_of_one_letter(find_pairs):
    pair = find_pairs(KINDS["gpt2"](), [("the  é", "é")])[0]
    assert " ".join(pair.tokens) == "the ␣ ␣ ·é ·é é ·é"
    assert pair.texts == ["the", "", "é", "é", "é", "é", "é"]


def test_a_slow_tokenizers_folder_is_refused(tmp_path):
    with raises(InputError, "tokenizer.json"):
        encode_word_pairs(tmp_path, PAIRS, 64)
