"""Pre-training: what is masked, what is learned from, and that it repeats itself and resumes."""

import math

import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
import yaml
from claim_tables import CONTEXT
from mentions import raises
from reduced import REDUCED, snakemake
from safetensors.torch import load_file
from transformers import BertTokenizer

from heuristic_core.common.errors import DivergenceError
from heuristic_core.config.figure import Figure
from heuristic_core.config.generated import UnlabelledText
from heuristic_core.config.models import Architecture, Initialisation, NewModel, Pretraining
from heuristic_core.data.languages.overlap import vocabulary
from heuristic_core.data.languages.overlap.generation import LANGUAGE
from heuristic_core.data.languages.overlap.unlabelled import generate_unlabelled_pairs
from heuristic_core.data.masking import find_shared_words, mask_tokens
from heuristic_core.experiments.subnetworks.figures import draw
from heuristic_core.experiments.subnetworks.figures.figure_pretraining import OTHER_COLOUR
from heuristic_core.models.pretrained import build_classifier, build_masked_language_model
from heuristic_core.training.pretrain import Corpus, MaskedStepper, accuracies, predict_masked, pretrain

SETTINGS = Pretraining(
    seed=3, steps=24, batch_size=8, learning_rate=1e-2, warmup_steps=2, clip_norm=1.0, measure_every=6, save_every=5
)
MODEL = NewModel(
    name="tiny",
    source="new",
    architecture=Architecture(layers=2, heads=2, hidden=16, feed_forward=16, positions=24),
    initialisation=Initialisation(std=0.05),
    pretraining=SETTINGS,
)
TOKENIZER = BertTokenizer(vocab={word: index for index, word in enumerate(LANGUAGE.vocabulary)}, do_lower_case=False)
PAD, CLS, SEP, MASK = (TOKENIZER.convert_tokens_to_ids(f"[{name}]") for name in ("PAD", "CLS", "SEP", "MASK"))


class Cut(Exception):
    pass


def corpus(settings=SETTINGS):
    return Corpus(settings, UnlabelledText(), TOKENIZER, 24)


def run(state, settings=SETTINGS, cut_at=None):
    """Pre-train a tiny model; at the measured step `cut_at` the run is cut off."""
    model = build_masked_language_model(MODEL, len(TOKENIZER))

    def measured(step):
        if step == cut_at:
            raise Cut
        return []

    record = pretrain(model, corpus(settings), settings, measured, state)
    return model.state_dict(), record.trace


# ---- what is masked


def shares(**changes):
    """Of many words, all ids 5 to 9 of a vocabulary of ten: what became of them, with all shares from `changes`."""
    torch.manual_seed(0)
    ids = torch.randint(5, 10, (200, 50))
    settings = SETTINGS.model_copy(update=changes)
    seen, chosen = mask_tokens(ids, range(5), MASK, 10, settings, torch.Generator().manual_seed(1))
    return ids, seen, chosen


def test_the_stated_shares_of_words_are_masked_replaced_and_kept():
    ids, seen, chosen = shares(chosen=0.3, replaced=0.2, kept=0.1)
    assert chosen.double().mean().item() == pytest.approx(0.3, abs=0.02)
    assert torch.equal(seen[~chosen], ids[~chosen])
    became = seen[chosen]
    assert (became == MASK).double().mean().item() == pytest.approx(0.7, abs=0.03)
    same = (became == ids[chosen]).double().mean().item()  # kept, or by chance replaced by itself, one in five
    assert same == pytest.approx(0.1 + 0.2 / 5, abs=0.03)
    assert set(became.tolist()) == {MASK, 5, 6, 7, 8, 9}


def test_special_tokens_are_neither_chosen_nor_put_in_a_words_place():
    ids = torch.tensor([[CLS, 7, SEP, 8, SEP, PAD]]).repeat(200, 1)
    settings = SETTINGS.model_copy(update={"chosen": 1.0, "replaced": 1.0, "kept": 0.0})
    seen, chosen = mask_tokens(ids, TOKENIZER.all_special_ids, MASK, len(TOKENIZER), settings, torch.Generator())
    assert chosen[0].tolist() == [False, True, False, True, False, False]
    assert not set(seen[:, [1, 3]].flatten().tolist()) & set(TOKENIZER.all_special_ids)
    assert torch.equal(seen[:, [0, 2, 4, 5]], ids[:, [0, 2, 4, 5]])


def test_at_least_one_word_is_to_be_restored():
    ids, settings = torch.tensor([[CLS, 7, SEP, 8, SEP]]), SETTINGS.model_copy(update={"chosen": 1e-9})
    _, chosen = mask_tokens(ids, TOKENIZER.all_special_ids, MASK, len(TOKENIZER), settings, torch.Generator())
    assert chosen[0].tolist() == [False, True, False, False, False]
    with pytest.raises(ValueError, match="chosen"):
        Pretraining(seed=0, steps=1, batch_size=1, learning_rate=1e-3, chosen=0.0)


def test_a_share_of_no_words_is_undefined():
    unrelated = corpus(SETTINGS.model_copy(update={"chosen": 1e-9}))
    result = accuracies(build_masked_language_model(MODEL, len(TOKENIZER)).eval(), unrelated.held_out())
    assert None in result.values() and set(result) == {"copied", "other"}


def test_a_word_is_in_both_sentences_if_its_token_stands_in_the_other_one():
    ids = torch.tensor([[CLS, 7, 8, 7, SEP, 9, 8, SEP, PAD]])
    types = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1, 0]])
    words = (ids > MASK) & (ids != PAD)
    assert find_shared_words(ids, types, words)[0].tolist() == [False, False, True] + [False] * 3 + [True, False, False]


# ---- what is learned from


def split_words(row):
    return [row[side].split() for side in ("sentence1", "sentence2")]


def content(words):
    return set(words) & set(vocabulary.CONTENT_WORDS)


def test_related_sentences_share_their_words_and_unrelated_ones_do_so_by_chance():
    def shared(related):
        rows = [split_words(row) for row in generate_unlabelled_pairs(500, related, "a")]
        return sum(content(a) <= content(b) or content(b) <= content(a) for a, b in rows) / len(rows)

    assert shared(1.0) == 1.0
    assert shared(0.0) < 0.05
    assert shared(0.5) == pytest.approx(0.5, abs=0.08)


def test_no_pair_is_in_the_order_of_premise_and_hypothesis_more_often_than_in_the_other():
    rows = [split_words(row) for row in generate_unlabelled_pairs(1000, 1.0, "b")]
    longer = [len(a) > len(b) for a, b in rows if len(a) != len(b)]
    assert sum(longer) / len(longer) == pytest.approx(0.5, abs=0.06)


def test_a_batch_depends_on_the_seed_and_its_step_alone():
    batch, again, other = corpus().batch(3), corpus().batch(3), corpus().batch(4)
    assert all(map(torch.equal, batch, again))
    assert batch.original.shape != other.original.shape or not torch.equal(batch.original, other.original)
    reseeded = corpus(SETTINGS.model_copy(update={"seed": 4})).batch(3)
    assert batch.original.shape != reseeded.original.shape or not torch.equal(batch.original, reseeded.original)


def test_the_loss_is_hugging_faces_own():
    model, text = build_masked_language_model(MODEL, len(TOKENIZER)), corpus().batch(0)
    labels = torch.where(text.prediction_mask, text.original, -100)
    whole = model(text.input_ids, attention_mask=text.attention_mask.long(), token_type_ids=text.types, labels=labels)
    assert torch.allclose(MaskedStepper(model, SETTINGS)._loss(text, None), whole.loss, atol=1e-6)
    assert torch.allclose(predict_masked(model, text), whole.logits[text.prediction_mask], atol=1e-6)


# ---- the run


@pytest.mark.slow
def test_it_learns_words_from_their_sentences(tmp_path):
    settings = SETTINGS.model_copy(update={"steps": 400, "batch_size": 16, "measure_every": 200})
    _, trace = run(tmp_path / "state.safetensors", settings)
    model = build_masked_language_model(MODEL, len(TOKENIZER))
    assert trace[0] == {"step": 0, "loss": None, **accuracies(model.eval(), corpus().held_out())}
    assert trace[-1]["loss"] < min(trace[1]["loss"], 0.9 * math.log(len(TOKENIZER)))


@pytest.mark.slow
def test_an_interrupted_run_resumes_to_the_same_weights_and_records(tmp_path):
    weights, trace = run(tmp_path / "whole.safetensors")
    with pytest.raises(Cut):
        run(tmp_path / "cut.safetensors", cut_at=12)
    resumed_weights, resumed_trace = run(tmp_path / "cut.safetensors")
    assert all(torch.equal(weights[name], resumed_weights[name]) for name in weights)
    assert trace == resumed_trace
    assert [row["step"] for row in trace] == [0, 6, 12, 18, 24]


def test_a_rate_that_is_too_high_names_the_step_and_the_setting(tmp_path):
    settings = SETTINGS.model_copy(update={"learning_rate": 1e30, "warmup_steps": 0, "clip_norm": None})
    with raises(DivergenceError, "model.pretraining.learning_rate"):
        run(tmp_path / "state.safetensors", settings)


def test_shares_that_exceed_all_chosen_words_are_refused():
    with raises(ValueError, "replaced", 0.8, "kept", 0.3, 1):
        Pretraining(seed=0, steps=1, batch_size=1, learning_rate=1e-3, replaced=0.8, kept=0.3)


def test_fine_tuning_starts_from_the_pre_trained_encoder(tmp_path):
    model = build_masked_language_model(MODEL, len(TOKENIZER))
    model.save_pretrained(tmp_path)
    started = [build_classifier(MODEL, ["a", "b", "c"], len(TOKENIZER), PAD, seed, None, tmp_path) for seed in (1, 2)]
    for name, weight in model.bert.state_dict().items():
        assert all(torch.equal(weight, item.bert.state_dict()[name]) for item in started), name
    assert not torch.equal(started[0].classifier.weight, started[1].classifier.weight)


# ---- in the workflow


@pytest.mark.slow
def test_a_study_pre_trains_its_model_once_and_fine_tunes_from_it(tmp_path):
    study = yaml.safe_load(REDUCED.read_text())
    study["model"]["pretraining"] = {
        "seed": 0, "steps": 20, "batch_size": 8, "learning_rate": 1e-3, "warmup_steps": 2, "measure_every": 10
    }  # fmt: skip
    config = tmp_path / "study.yaml"
    config.write_text(yaml.safe_dump(study))
    runs = "results/reduced/mini-bert/pairs"
    wanted = [f"{runs}/ft{seed}/{name}.parquet" for seed in (1, 2) for name in ("trace", "overlap_heads")]
    done = snakemake(tmp_path, "--printshellcmds", "--", "figure_pretraining", *wanted, config=config)
    assert (done.stdout + done.stderr).count("rule pretrain:") == 1
    assert (tmp_path / "results/reduced/figures/figure_pretraining.png").is_file()
    trace = pq.read_table(tmp_path / "results/reduced/tables/pretraining_trace.parquet").to_pydict()
    assert trace["pretraining_step"] == [0, 10, 20]
    shares = [pq.read_table(tmp_path / f"{runs}/ft{s}/overlap_heads.parquet")["share"].to_pylist() for s in (1, 2)]
    assert shares[0] == shares[1]  # both start from the same encoder
    attention = pq.read_table(tmp_path / "results/reduced/tables/pretraining_attention.parquet").to_pylist()
    assert {row["pretraining_step"] for row in attention} == {0, 10, 20}
    last = [row["share"] for row in attention if (row["pretraining_step"], row["name"]) == (20, "1.0")]
    assert sum(last) == pytest.approx(1)  # of one head over all categories
    weights = load_file(tmp_path / f"{runs}/pretraining/checkpoint/model.safetensors")
    assert "bert.embeddings.word_embeddings.weight" in weights
    assert snakemake(tmp_path, "--dry-run", "pretrain", config=config).stdout.count("rule pretrain:") == 0
    study["analysis"]["attention_pairs"] = 10
    study["task"]["id_pairs"] = 60
    study["task"]["train_pairs"] = 2100
    config.write_text(yaml.safe_dump(study))
    planned = snakemake(tmp_path, "--dry-run", "--", *wanted, config=config)
    assert (planned.stdout + planned.stderr).count("rule finetune:") == 2  # on other pairs, from the same model
    assert (planned.stdout + planned.stderr).count("rule pretrain:") == 0
    study["model"]["pretraining"]["seed"] = 1
    config.write_text(yaml.safe_dump(study))
    planned = snakemake(tmp_path, "--dry-run", "--", *wanted, config=config)
    assert (planned.stdout + planned.stderr).count("rule finetune:") == 2


def test_the_figure_names_and_colours_the_heads_with_the_largest_shares():
    heads = [(layer, head, 0.01 * (8 * layer + head)) for layer in range(2) for head in range(8)]
    attention = pd.DataFrame(
        [
            {"pretraining_step": step, "component": 8 * layer + head, "name": f"{layer}.{head}", "layer": layer}
            | {"category": "repeated", "share": share * step}
            for step in (0, 1)
            for layer, head, share in heads
        ]
    )
    trace = pd.DataFrame({"pretraining_step": [0, 1], "copied": [0.0, 80.0], "other": [0.0, 20.0]})
    figure, marks = draw(
        "figure_pretraining", {"pretraining_attention": attention, "pretraining_trace": trace}, Figure(), CONTEXT
    )
    left, _ = figure.axes
    assert [text.get_text() for text in left.texts] == [f"1.{k}" for k in reversed(range(8))] + ["0.7"]
    grey = [line for line in left.lines if line.get_color() == OTHER_COLOUR]
    assert (len(grey), len(left.lines)) == (7, 16) and max(line.get_ydata()[-1] for line in grey) == pytest.approx(6)
    assert marks[marks["name"].isin(attention["name"])].groupby("what").size().tolist() == [32]
