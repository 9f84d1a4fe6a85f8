"""Pairs become token arrays: the generated language's own tokenizer, and sets of encoded pairs."""

import numpy as np
import pytest
from conftest import ROOT, make_encoded
from mentions import raises

from heuristic_core.data.encode import encode
from heuristic_core.data.encoded import Encoded, Subset, pack_lists
from heuristic_core.data.languages.overlap.generation import LANGUAGE
from heuristic_core.data.pairs import SubsetRule
from heuristic_core.data.sentences import load_sentences
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.models.tokenizer import make_tokenizer

STUDY = load_study(ROOT / "config.yaml")
VOCABULARY = LANGUAGE.vocabulary
CLS, SEP = VOCABULARY.index("[CLS]"), VOCABULARY.index("[SEP]")


@pytest.fixture(scope="module")
def tokenizer():
    return make_tokenizer(STUDY.model, STUDY.task)


def row(first, second="judges slept", label=0, subset="train"):
    return {"sentence1": first, "sentence2": second, "label": label, "subset": subset, "template": None}


def words(text):
    return [VOCABULARY.index(word) for word in text.split()]


def fields(encoded):
    return [encoded.ids, encoded.types, encoded.special, encoded.offsets, encoded.labels]


def equal(encoded, expected):
    return encoded.subsets == expected.subsets and all(map(np.array_equal, fields(encoded), fields(expected)))


# ---- the generated task's tokenizer


def test_a_pair_is_encoded_as_bert_expects(tokenizer):
    premise, hypothesis = "if judges slept , kings ran", "kings ran"
    encoded = encode([row(premise, hypothesis, 1), row("poets saw kings", label=2)], tokenizer, 24)
    first, second = [CLS, *words(premise), SEP, *words(hypothesis), SEP], [CLS, *words("poets saw kings"), SEP]
    second += [*words("judges slept"), SEP]
    assert encoded.ids.tolist() == first + second
    assert encoded.types.tolist() == [0] * 8 + [1] * 3 + [0] * 5 + [1] * 3
    assert encoded.special.tolist() == [1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1]
    assert encoded.offsets.tolist() == [0, 11, 19]
    assert encoded.labels.tolist() == [1, 2]
    assert [array.dtype for array in fields(encoded)] == [np.int32, np.uint8, np.uint8, np.int64, np.int64]


def test_the_sentence_of_a_token_is_known_for_tokenizers_without_token_types():
    """RoBERTa's pairs: <s> a </s></s> b </s>, all of token type 0."""
    from transformers import RobertaTokenizer

    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "a", "b", "Ġa", "Ġb", "Ġ"]
    tokenizer = RobertaTokenizer(vocab={word: i for i, word in enumerate(words)}, merges=[("Ġ", "a"), ("Ġ", "b")])
    encoded = encode([row("a b a", "b a", 1)], tokenizer, 24)
    assert encoded.ids.tolist() == [0, 5, 8, 7, 2, 2, 6, 7, 2]
    assert encoded.types.tolist() == [0] * 6 + [1] * 3
    assert not any(tokenizer("a b a", "b a", return_token_type_ids=True)["token_type_ids"])


def test_the_vocabulary_is_the_languages_and_padding_is_zero(tokenizer):
    assert tokenizer.get_vocab() == {word: index for index, word in enumerate(VOCABULARY)}
    assert tokenizer.pad_token_id == 0
    assert tokenizer.model_max_length == STUDY.task.max_length


def test_every_word_of_the_language_is_known_and_no_pair_is_cut(tokenizer):
    small = STUDY.task.model_copy(update={"train_pairs": 500, "id_pairs": 60, "pairs_per_subcase": 20})
    pairs = load_sentences(small)
    for rows, rules in ((pairs.train, ()), (pairs.evaluation, pairs.subsets)):
        encoded = encode(rows, tokenizer, small.max_length, rules)
        assert VOCABULARY.index("[UNK]") not in encoded.ids
        expected = [3 + len(words(row["sentence1"])) + len(words(row["sentence2"])) for row in rows]
        assert encoded.lengths.tolist() == expected and max(expected) <= small.max_length
        assert encoded.labels.tolist() == [row["label"] for row in rows]
    assert [(s.name, s.group, s.family, s.merge) for s in encoded.subsets] == [
        (rule.name, rule.group, rule.family, rule.merge) for rule in pairs.subsets
    ]
    for subset in encoded.subsets:
        assert {row["subset"] for row in pairs.evaluation[subset.start : subset.stop]} == {subset.name}
    assert [0, *(s.stop for s in encoded.subsets)] == [*(s.start for s in encoded.subsets), len(encoded)]


def test_a_word_outside_the_language_is_unknown_not_split(tokenizer):
    encoded = encode([row("judges snored")], tokenizer, 24)
    assert encoded.ids.tolist() == [CLS, *words("judges [UNK]"), SEP, *words("judges slept"), SEP]


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("judges near poets saw kings", "poets slept", ("judges near poets", "poets slept")),
        ("poets slept", "judges near poets saw kings", ("poets slept", "judges near poets")),
        ("judges saw kings", "poets slept", ("judges saw kings", "poets slept")),
    ],
)
def test_a_pair_beyond_the_length_loses_the_end_of_its_longer_sentence(tokenizer, first, second, kept):
    encoded = encode([row(first, second)], tokenizer, 8)
    assert encoded.ids.tolist() == [CLS, *words(kept[0]), SEP, *words(kept[1]), SEP]
    assert encoded.special.sum() == 3


def test_a_new_model_has_no_words_for_a_task_of_files():
    task = load_study(ROOT / "config" / "minilm-mnli.yaml").task
    new = load_study(ROOT / "config" / "miniature-tied.yaml").model
    with raises(ValueError, new.name, task.name):
        make_tokenizer(new, task)


# ---- subsets


def rules(*names):
    return [SubsetRule(name, "id", None, (0, 1, 2)) for name in names]


def test_subsets_are_the_slices_in_which_rows_stand(tokenizer):
    rows = [row("judges slept", subset=name) for name in ("b", "b", "a", "c", "c", "c")]
    result = encode(rows, tokenizer, 24, [SubsetRule("b", "ood", "constituent", (0, 1, 1)), *rules("a", "c")]).subsets
    assert result == (
        Subset("b", "ood", "constituent", (0, 1, 1), 0, 2),
        Subset("a", "id", None, (0, 1, 2), 2, 3),
        Subset("c", "id", None, (0, 1, 2), 3, 6),
    )


@pytest.mark.parametrize(
    ("names", "ruled", "named"),
    [
        ("aab", "ba", "b"),  # another order
        ("aba", "ab", "a"),  # apart
        ("aa", "ab", "b"),  # none
        ("aab", "a", "b"),  # of no subset, behind the others
        ("baa", "a", "a"),  # of no subset, before the others
        ("aa", "aa", "a"),  # twice
    ],
)
def test_rows_that_do_not_stand_as_the_subsets_say_are_refused(tokenizer, names, ruled, named):
    with raises(ValueError, named):
        encode([row("judges slept", subset=name) for name in names], tokenizer, 24, rules(*ruled))


# ---- encoded sets

SETS = pack_lists(
    ids=[[1, 7, 2], [1, 8, 9, 2, 5, 2], [1, 2], [1, 6, 6, 2]],
    types=[[0, 0, 1], [0, 0, 0, 0, 1, 1], [0, 1], [0, 0, 1, 1]],
    special=[[1, 0, 1], [1, 0, 0, 1, 0, 1], [1, 1], [1, 0, 0, 1]],
    labels=[2, 0, 1, 1],
    subsets=(
        Subset("a", "id", None, (0, 1, 2), 0, 1),
        Subset("b", "ood", "constituent", (0, 1, 1), 1, 2),
        Subset("c", "id", None, (0, 1, 2), 2, 4),
    ),
)


def test_lists_are_packed_behind_one_another():
    assert len(SETS) == 4
    assert SETS.ids.tolist() == [1, 7, 2, 1, 8, 9, 2, 5, 2, 1, 2, 1, 6, 6, 2]
    assert SETS.offsets.tolist() == [0, 3, 9, 11, 15]
    assert SETS.lengths.tolist() == [3, 6, 2, 4]


def test_padded_matrices_are_zero_beyond_each_pair():
    ids, types = SETS.pad_to_longest()
    assert ids.tolist() == [[1, 7, 2, 0, 0, 0], [1, 8, 9, 2, 5, 2], [1, 2, 0, 0, 0, 0], [1, 6, 6, 2, 0, 0]]
    assert types.tolist() == [[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1], [0, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]]
    assert (ids.dtype, types.dtype) == (np.int32, np.uint8)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_first_pairs_are_those_of_the_lists(count):
    first = SETS.head(count)
    assert first.subsets == () and len(first) == count
    assert first.offsets.tolist() == [0, 3, 9, 11, 15][: count + 1]
    for flat, whole in zip(fields(first)[:3], fields(SETS)[:3], strict=True):
        assert flat.tolist() == whole[: first.offsets[-1]].tolist()
    assert first.labels.tolist() == [2, 0, 1, 1][:count]


def test_split_undoes_the_packing():
    assert [part.tolist() for part in SETS.split_by_pair(SETS.special)] == [
        [1, 0, 1],
        [1, 0, 0, 1, 0, 1],
        [1, 1],
        [1, 0, 0, 1],
    ]


@pytest.mark.parametrize("encoded", [SETS, SETS.head(2), make_encoded(40)], ids=["small", "no subsets", "random"])
def test_a_saved_set_is_read_back(tmp_path, encoded):
    encoded.save(tmp_path / "a.safetensors")
    result = Encoded.load(tmp_path / "a.safetensors")
    assert equal(result, encoded)
    assert [array.dtype for array in fields(result)] == [array.dtype for array in fields(encoded)]
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


def test_the_same_set_gives_the_same_bytes(tmp_path):
    make_encoded(40).save(tmp_path / "a.safetensors")
    make_encoded(40).save(tmp_path / "b.safetensors")
    make_encoded(40, seed=1).save(tmp_path / "c.safetensors")
    first, same, other = ((tmp_path / f"{name}.safetensors").read_bytes() for name in "abc")
    assert first == same != other
