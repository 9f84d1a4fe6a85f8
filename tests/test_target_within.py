"""A target within the sentence: files, encoding, and models against Hugging Face's modules applied by hand."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import ROOT, make_encoded
from families import CASES, make_model
from mentions import mentions, raises
from pydantic import ValidationError

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import Finetune
from heuristic_core.config.models import PretrainedModel
from heuristic_core.config.reading import read_config
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.encode import encode
from heuristic_core.data.encoded import Encoded
from heuristic_core.data.files import read_task
from heuristic_core.data.minimal_pairs import get_layouts
from heuristic_core.data.pairs import make_pair_key, make_row
from heuristic_core.data.targets import find_target
from heuristic_core.experiments.subnetworks.config import parse_study
from heuristic_core.models.ablation import Ablation, component_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.classifier_heads import CLASSIFIER_MODULES, find_target_problem
from heuristic_core.models.fused_families import fused_family
from heuristic_core.models.hooked import HookedModel
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.tokenizer import make_tokenizer
from heuristic_core.training.stepper import Stepper

STUDY = parse_study(read_config(ROOT / "config.yaml"))
WITH_TARGET = [case for case, (model_type, _) in CASES.items() if model_type in CLASSIFIER_MODULES]
WITHOUT_TARGET = [case for case, (model_type, _) in CASES.items() if model_type not in CLASSIFIER_MODULES]
SENTENCE = "The dog saw the old-dog."


# ---- files


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("saw", "saw"),
        ("old-dog", "old-dog"),
        (1, "dog"),
        ("1", "dog"),
        (4, "old-dog"),  # without punctuation around it
        ("4:7", "dog"),
        ([4, 7], "dog"),
        ("3:8", "dog"),  # white space at its ends is no part of it
    ],
)
def test_a_target_is_a_word_an_index_or_characters(value, expected):
    start, end = find_target(value, SENTENCE)
    assert SENTENCE[start:end] == expected


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("cat", "occurs 0 times"),
        ("Saw", "occurs 0 times"),  # case matters
        ("dog", "occurs 2 times"),
        ("do", "occurs 0 times"),
        ("", "is missing"),
        (None, "is missing"),
        (float("nan"), "is missing"),
        ("3:3", "is no part"),
        ("20:99", "is no part"),
        ([-1, 4], "is no part"),
        ("3:4", "white space"),
        (5, "5 words"),
        (-1, "5 words"),
        ("5", "5 words"),
        (True, "is neither"),
        (2.5, "is neither"),
        (float("inf"), "is neither"),
        ([1], "is neither"),
        ([1, "2"], "is neither"),
    ],
)
def test_what_is_no_target_is_refused(value, reason):
    with pytest.raises(ValueError, match=reason):
        find_target(value, SENTENCE)


@pytest.mark.parametrize(
    ("value", "sentence", "words"),
    [("1", "We saw 1 dog", ("'saw'", "'1'")), ("0:2", "It is 0:2 now", ("'It'", "'0:2'"))],
)
def test_a_text_with_two_meanings_is_refused(value, sentence, words):
    with raises(ValueError, *words):
        find_target(value, sentence)
    assert find_target("2", "It has 2 dogs") == (7, 8)  # both meanings are the same word


@pytest.mark.parametrize("value", [1, 1.0, np.int64(1)])
def test_integers_of_any_kind_are_indices(value):
    assert find_target(value, SENTENCE) == (4, 7)


def task(folder, rows, **changes):
    lines = ["text,word,label", *(",".join(row) for row in rows)]
    (folder / "train.csv").write_text("\n".join(lines) + "\n")
    split = {"file": "train.csv", "sentences": ["text"], "target": "word"}
    values = {"train": [split], "evaluation": {"dev": split | {"group": "id"}}}
    return FilesTask(
        name="roles", source="files", folder=str(folder), labels=["agent", "patient"], **(values | changes)
    )


def test_targets_are_read_with_their_rows(tmp_path):
    rows = [("judges saw kings", "judges", "agent"), ("judges saw kings", "2", "patient"), ("", "none", "")]
    train = read_task(task(tmp_path, rows)).train
    assert sorted((row["target_start"], row["target_end"]) for row in train) == [(0, 6), (11, 16)]


def test_a_target_outside_its_sentence_is_named_with_its_line(tmp_path):
    rows = [("judges saw kings", "kings", "patient"), ("judges saw kings", "poets", "agent")]
    with raises(InputError, "train.csv", "line 3", "word = 'poets'"):
        read_task(task(tmp_path, rows))


def test_all_files_have_a_target_or_none(tmp_path):
    plain = {"file": "train.csv", "sentences": ["text"], "group": "id"}
    with raises(ValidationError, "task.evaluation.dev", "task.train.0", "target"):
        task(tmp_path, [], evaluation={"dev": plain})


def test_a_target_needs_single_sentences(tmp_path):
    pair = {"file": "train.csv", "sentences": ["text", "word"], "target": "word"}
    with raises(ValidationError, "task.train.0", "target"):
        task(tmp_path, [], train=[pair], evaluation={"dev": pair | {"group": "id"}})


# ---- encoding


@pytest.fixture(scope="module")
def tokenizer():
    return make_tokenizer(STUDY.model, STUDY.task)


def row(sentence, target):
    return make_row("train", None, None, None, [sentence], 0, find_target(target, sentence))


def test_the_last_token_of_the_target_is_classified(tokenizer):
    encoded = encode([row("judges saw kings", "kings"), row("poets slept", 0)], tokenizer, 24)
    assert encoded.target.tolist() == [3, 1]


def test_a_target_that_is_cut_off_is_an_error(tokenizer):
    with raises(InputError, "task.max_length = 4", "'kings'"):
        encode([row("judges saw kings", "judges"), row("judges saw kings", "kings")], tokenizer, 4)


def test_a_character_that_the_tokenizer_drops_does_not_hide_its_word(tokenizer):
    row = make_row("train", None, None, None, ["poets\u200b slept"], 0, (0, 6))
    assert encode([row], tokenizer, 24).target.tolist() == [1]


def test_two_targets_of_one_sentence_are_two_examples():
    first, second = row("judges saw judges", 0), row("judges saw judges", 2)
    assert make_pair_key(first) != make_pair_key(second)
    assert make_pair_key(first) == make_pair_key(row("Judges  saw judges", 0))


def test_targets_follow_their_sentences(tokenizer, tmp_path):
    encoded = encode([row("judges saw kings", "kings"), row("poets slept", 0), row("poets slept", 1)], tokenizer, 24)
    encoded.save(tmp_path / "x.safetensors")
    assert Encoded.load(tmp_path / "x.safetensors").target.tolist() == [3, 1, 2]
    assert encoded.take(np.array([2, 0])).target.tolist() == [2, 3]
    assert encoded.head(2).target.tolist() == [3, 1]
    assert len(set(get_layouts(encoded))) == 3  # the last two differ in their target alone
    assert encode([row("poets slept", 0) | {"target_end": None}], tokenizer, 24).target is None


# ---- models


@pytest.fixture(scope="module")
def targets():
    """Encoded examples with a target each, within its tokens and not the first."""
    encoded = make_encoded(24)
    rng = np.random.default_rng(1)
    return replace(encoded, target=np.array([rng.integers(1, length) for length in encoded.lengths], np.int32))


def by_hand(model, batch):
    """Hugging Face's hidden states at the targets, through the modules of its own head."""
    seen = {}
    head = model.get_submodule(CLASSIFIER_MODULES[model.config.model_type])
    handle = head.register_forward_pre_hook(lambda _, inputs: seen.update(x=inputs[0]))
    inputs = {"input_ids": batch.ids, "attention_mask": batch.mask().long()}
    if getattr(model.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = batch.types
    with torch.no_grad():
        model(**inputs)
    handle.remove()
    x = seen["x"][torch.arange(len(batch.ids)), batch.target]
    with torch.no_grad():
        if model.config.model_type == "bert":
            return model.classifier(torch.tanh(model.bert.pooler.dense(x)))
        if model.config.model_type == "roberta":
            return model.classifier.out_proj(torch.tanh(model.classifier.dense(x)))
        if model.config.model_type == "electra":
            return model.classifier.out_proj(torch.nn.functional.gelu(model.classifier.dense(x)))
        if model.config.model_type == "deberta-v2":
            return model.classifier(torch.nn.functional.gelu(model.pooler.dense(x)))
        return model.score(x)


@pytest.mark.parametrize("case", WITH_TARGET)
def test_the_target_is_classified_in_every_family(case, targets):
    model = make_model(case)
    pairs = PairTensors(targets, model.config.pad_token_id)
    batch = pairs.batch(torch.arange(24))
    expected, usual = by_hand(model, batch), model(input_ids=batch.ids, attention_mask=batch.mask().long()).logits
    torch.testing.assert_close(HookedModel(model).logits(batch), expected, atol=1e-5, rtol=0)
    assert not torch.allclose(expected, usual, atol=1e-3)
    if fused_family(model.config.to_dict()):
        fused = wrap_model(model)
        for all_positions in (False, True):
            torch.testing.assert_close(fused.logits(batch, all_positions=all_positions), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("case", [case for case in WITH_TARGET if fused_family(make_model(case).config.to_dict())])
def test_smaller_models_classify_the_target_alike(case, targets):
    model = make_model(case)
    pairs = PairTensors(targets, model.config.pad_token_id)
    batch = pairs.batch(torch.arange(24))
    fused, hooked = wrap_model(model), HookedModel(copy.deepcopy(model))
    means = component_means(fused, pairs, [torch.arange(24)])
    removed = [0, 3, len(fused.grid) - 1]
    small = [m.remove_components(removed, means.heads, means.mlps).logits(batch) for m in (fused, hooked)]
    gates = torch.ones(len(batch.ids), len(fused.grid))
    gates[:, removed] = 0
    masked = fused.logits(batch, Ablation(gates, means, fused.grid))
    for logits in small:
        torch.testing.assert_close(logits, masked, atol=1e-5, rtol=0)


def test_a_step_of_fine_tuning_learns_from_the_target(targets):
    """The loss of a step is the one of the hidden states at the targets."""
    model = make_model("bert").train().requires_grad_(True)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    settings = Finetune(seeds=[1], steps=1, batch_size=8, learning_rate=1e-3, checkpoints=[1], evaluate_every=1)
    pairs = PairTensors(targets, 0)
    batch = pairs.batch(torch.arange(8))
    expected = float(torch.nn.functional.cross_entropy(by_hand(copy.deepcopy(model).eval(), batch), pairs.labels[:8]))
    assert Stepper(model, pairs, settings).step(torch.arange(8), 0.0) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("case", WITHOUT_TARGET)
def test_a_family_that_classifies_whole_sentences_only_is_named(case, tmp_path):
    make_model(case).config.save_pretrained(tmp_path)
    model = PretrainedModel(name="x", source="pretrained", folder=str(tmp_path))
    assert mentions(find_target_problem(model), CASES[case][0], *CLASSIFIER_MODULES)


def test_a_model_that_was_not_checked_is_refused_when_it_runs(targets):
    model = make_model(WITHOUT_TARGET[0])
    batch = PairTensors(targets, model.config.pad_token_id).batch(torch.arange(4))
    with raises(InputError, model.config.model_type):
        HookedModel(model).logits(batch)


def test_a_missing_model_is_left_to_other_checks(tmp_path):
    assert find_target_problem(PretrainedModel(name="x", source="pretrained", folder=str(tmp_path / "x"))) is None
