"""Fine-tuning: it learns, repeats itself, and resumes to the weights of an uninterrupted run."""

import contextlib
import re
import tempfile
import time
from pathlib import Path

import pytest
import torch
from amounts import amount
from conftest import make_encoded
from hypothesis import given, settings
from hypothesis import strategies as st
from mentions import raises
from safetensors.torch import load_file

from heuristic_core.common.errors import DivergenceError
from heuristic_core.config.blocks import Finetune
from heuristic_core.config.models import Architecture, Initialisation, NewModel
from heuristic_core.interventions.evaluate import all_logits
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.folder import resolve_folder
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.pretrained import build_classifier
from heuristic_core.training.finetune import Batches, TrainingRun, finetune, record_interval
from heuristic_core.training.saved_state import load_state
from heuristic_core.training.stepper import Stepper

MODEL = NewModel(
    name="tiny",
    source="new",
    architecture=Architecture(layers=2, heads=2, hidden=16, feed_forward=16, positions=20),
    initialisation=Initialisation(std=0.125, embedding_scale=0.5, query_key_scale=1.4, tie_query_key=True),
)
SETTINGS = Finetune(
    seeds=[1],
    steps=24,
    batch_size=8,
    learning_rate=1e-2,
    warmup_steps=2,
    weight_decay=0.01,
    dropout=0.1,
    clip_norm=1.0,
    checkpoints=[12, 24],
    evaluate_every=6,
    save_every=5,
)
LABELS = ("entailment", "neutral", "contradiction")


class Cut(Exception):
    pass


def run(state, chosen=SETTINGS, cut_at=None, logits=None):
    """Fine-tune a tiny model, and add logits by step to `logits`; at the kept step `cut_at` the run is cut off."""
    model = build_classifier(MODEL, LABELS, 50, 0, 1, chosen.dropout)
    kept = {}

    def keep(step):
        kept[step] = {k: v.clone() for k, v in model.state_dict().items()}
        if step == cut_at:
            raise Cut

    logits = {} if logits is None else logits
    record = finetune(model, make_encoded(50), make_encoded(30, seed=1), chosen, 1, keep, logits.__setitem__, state)
    return model.state_dict(), kept, record, logits


def same(a, b):
    return all(torch.equal(a[k], b[k]) for k in a)


def test_an_interrupted_run_resumes_to_the_same_weights_and_records(tmp_path):
    weights, kept, whole, logits = run(tmp_path / "whole.safetensors")
    with pytest.raises(Cut):
        run(tmp_path / "cut.safetensors", cut_at=12)
    assert (tmp_path / "cut.safetensors").is_file()
    resumed_weights, resumed_kept, resumed_record, resumed_logits = run(tmp_path / "cut.safetensors")
    assert same(weights, resumed_weights)
    assert set(resumed_kept) == {12, 24}  # the last saved state was before step 12
    assert same(kept[24], resumed_kept[24])
    assert whole.trace == resumed_record.trace
    assert set(resumed_logits) == {12, 18, 24}  # what came after the saved state
    assert all(torch.equal(logits[step], resumed_logits[step]) for step in resumed_logits)


def test_a_saved_state_has_the_evaluations_of_all_earlier_steps(tmp_path):
    """A run that is killed at any later step repeats no more than the evaluation of the saved step."""

    class Slow(dict):
        def __setitem__(self, step, value):
            time.sleep(0.3 if step == 6 else 0)  # longer than the steps until the state is saved
            super().__setitem__(step, value)

    state, often = tmp_path / "state.safetensors", SETTINGS.model_copy(update={"checkpoints": [11, 24]})
    with pytest.raises(Cut):
        run(state, often, cut_at=11, logits=Slow())
    _, records = load_state(state)
    assert (records["step"], records["evaluated"]) == (10, [0, 6])


@pytest.mark.slow
def test_loss_falls(tmp_path):
    longer = SETTINGS.model_copy(update={"steps": 150, "dropout": 0.0, "checkpoints": [150]})
    _, _, result, _ = run(tmp_path / "state.safetensors", longer)
    assert result.trace[-1]["loss"] < 0.6 * result.trace[0]["loss"]


def test_evaluations_cover_step_0_and_every_interval(tmp_path):
    _, _, _, logits = run(tmp_path / "state.safetensors")
    assert list(logits) == [0, 6, 12, 18, 24]
    assert all(value.shape == (30, 3) for value in logits.values())
    assert not torch.equal(logits[0], logits[6])


@pytest.mark.slow
@pytest.mark.sampled
@given(st.lists(st.integers(1, 24), min_size=1, max_size=4))
@settings(max_examples=amount(15), deadline=None)
def test_a_run_cut_at_any_steps_ends_with_the_weights_of_an_uninterrupted_one(cuts):
    with tempfile.TemporaryDirectory() as folder:
        whole, _, result, logits = run(Path(folder) / "whole.safetensors")
        state = Path(folder) / "cut.safetensors"
        every_step = SETTINGS.model_copy(update={"checkpoints": list(range(1, 25))})  # `keep` is where a run is cut
        later = {}
        for cut in cuts:
            with contextlib.suppress(Cut):  # a later start may lie beyond the cut
                run(state, every_step, cut_at=cut, logits=later)
        weights, _, resumed, _ = run(state, logits=later)
    assert same(whole, weights)
    assert result.trace == resumed.trace
    assert set(later) == set(logits)
    assert all(torch.equal(logits[step], later[step]) for step in later)


WILD = {"clip_norm": None, "dropout": 0.0, "warmup_steps": 0}


def test_numbers_that_are_not_finite_stop_the_run_at_once(tmp_path):
    state = tmp_path / "state.safetensors"
    with raises(DivergenceError, "finetune.learning_rate", "finetune.clip_norm", "finetune.warmup_steps"):
        run(state, SETTINGS.model_copy(update=WILD | {"learning_rate": 1e30}))
    assert not state.exists()


@pytest.mark.parametrize(("kept", "good"), [([4, 13, 24], 4), ([6, 12, 24], 12), ([13, 24], None)])
def test_the_last_good_checkpoint_is_named_and_the_state_is_left_finite(tmp_path, kept, good):
    """The learning rate is right for 14 steps; then, resumed with a wild one, the run must leave what was good.
    Evaluated at steps 6 and 12, a checkpoint of step 13 may already be of the time when it diverged."""
    state = tmp_path / "state.safetensors"
    right = SETTINGS.model_copy(update={"checkpoints": [*kept[:-1], 14, 24], "save_every": 13})
    with pytest.raises(Cut):
        run(state, right, cut_at=14)
    before = state.read_bytes()
    wild = SETTINGS.model_copy(update=WILD | {"learning_rate": 1e30, "checkpoints": kept})
    with raises(DivergenceError) as error:
        run(state, wild)
    _, *steps = map(int, re.findall(r"\bstep (\d+)", str(error.value)))
    assert steps == [12, *([good] if good else [])]  # of the last evaluation, of the last good checkpoint
    assert state.read_bytes() == before
    assert all(tensor.isfinite().all() for tensor in load_file(state).values())


def test_a_gradient_that_is_not_finite_changes_no_weight():
    stepper, encoded = make_stepper(SETTINGS), make_encoded(50)
    with torch.no_grad():
        stepper.model.classifier.weight[0, 0] = torch.inf
    before = {k: v.clone() for k, v in stepper.model.state_dict().items()}
    with raises(DivergenceError, "nan"):
        stepper.step(torch.arange(len(encoded))[:8], 1e-2)
    assert same(before, stepper.model.state_dict())


@pytest.mark.parametrize(
    ("first", "later", "diverged"), [(1.0, 2.1, False), (1.0, 2.3, True), (4.0, 7.9, False), (4.0, 8.1, True)]
)
def test_a_mean_loss_far_above_a_guess_and_above_the_first_is_divergence(first, later, diverged):
    """A guess among three classes has 1.1 nats; a new classifier may start far above that."""
    records = TrainingRun(step=6, losses=[first])
    record_interval(records, 0.1, classes=3)
    records.step, records.losses = 12, [later - 0.5, later + 0.5]
    with raises(DivergenceError, 1.1) if diverged else contextlib.nullcontext():
        record_interval(records, 0.1, classes=3)
    assert [row["step"] for row in records.trace] == ([6] if diverged else [6, 12])


def make_stepper(chosen, **changes):
    chosen = chosen.model_copy(update={"dropout": 0.0, "clip_norm": None, **changes})
    model = build_classifier(MODEL, LABELS, 50, 0, 1, 0.0)
    return Stepper(model, PairTensors(make_encoded(50)), chosen)


def gradients(stepper, index):
    """The gradient of a step, read before AdamW normalises it away."""
    seen = {}
    stepper.optimizer.register_step_pre_hook(
        lambda *_: seen.update({n: w.grad.clone() for n, w in stepper.model.named_parameters()})
    )
    return stepper.step(index, 1e-2), seen


@pytest.mark.parametrize("tokens", [1, 16, 40, 1000])
def test_passes_add_up_to_the_gradient_of_the_whole_batch(tokens):
    index = torch.arange(3, 23)
    loss, whole = gradients(make_stepper(SETTINGS), index)
    parted_loss, parted = gradients(make_stepper(SETTINGS, pass_tokens=tokens), index)
    assert parted_loss == pytest.approx(loss, rel=1e-5)
    for name, gradient in whole.items():
        torch.testing.assert_close(parted[name], gradient, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("precision", "close"), [("bfloat16", 0.03), ("float16", 0.01)])
def test_half_precision_learns_with_weights_and_optimizer_in_float32(precision, close):
    index = torch.arange(3, 23)
    _, exact = gradients(make_stepper(SETTINGS), index)
    stepper = make_stepper(SETTINGS, precision=precision)
    _, half = gradients(stepper, index)
    assert {w.dtype for w in stepper.model.parameters()} == {torch.float32}
    difference = sum((half[n] - exact[n]).square().sum() for n in exact) / sum(g.square().sum() for g in exact.values())
    assert 0 < float(difference) ** 0.5 < close


def test_attention_is_by_products_in_steps_in_bfloat16_alone():
    for precision, attention in (("float32", "sdpa"), ("bfloat16", "eager")):
        stepper, seen = make_stepper(SETTINGS, precision=precision), []
        hook = stepper.model.register_forward_pre_hook(
            lambda model, *_, to=seen: to.append(model.config._attn_implementation)
        )
        stepper.step(torch.arange(20), 1e-3)
        hook.remove()
        assert set(seen) == {attention} and stepper.model.config._attn_implementation == "sdpa"


def test_float16_resumes_with_its_loss_scale(tmp_path):
    half = SETTINGS.model_copy(update={"precision": "float16"})
    weights, *_ = run(tmp_path / "whole.safetensors", half)
    with pytest.raises(Cut):
        run(tmp_path / "cut.safetensors", half, cut_at=12)
    resumed, *_ = run(tmp_path / "cut.safetensors", half)
    assert same(weights, resumed)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_evaluation_in_passing_has_the_set_precision(tmp_path, precision):
    model = build_classifier(MODEL, LABELS, 50, 0, 1, 0.0)
    pairs = PairTensors(make_encoded(30))
    exact, half = all_logits(wrap_model(model), pairs), all_logits(wrap_model(model, precision), pairs)
    assert half.dtype == torch.float32
    assert 0 < float((half - exact).abs().max()) < 0.05
    assert {w.dtype for w in model.parameters()} == {torch.float32}


def test_every_epoch_is_a_permutation_of_its_own():
    batches = Batches(10, 3, ft_seed=1)
    epochs = [torch.cat([batches.at(3 * epoch + part) for part in range(3)]).tolist() for epoch in range(2)]
    assert all(len(set(epoch)) == 9 for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert torch.equal(batches.at(4), Batches(10, 3, 1).at(4))
    assert not torch.equal(batches.at(0), Batches(10, 3, 2).at(0))
    with raises(ValueError, "batch_size", 11):
        Batches(10, 11, 1)


def test_the_recipe_ties_keys_to_queries_and_treats_all_heads_alike():
    model = build_classifier(MODEL, LABELS, 50, 0, 1, None)
    for layer in model.bert.encoder.layer:
        attention = layer.attention.self
        assert torch.equal(attention.query.weight, attention.key.weight)
    flat = torch.cat([layer.attention.self.query.weight.flatten() for layer in model.bert.encoder.layer])
    assert float(flat.detach().std()) == pytest.approx(1.4 * 0.125, rel=0.1)
    positions = model.bert.embeddings.position_embeddings.weight
    assert float(positions.detach().std()) == pytest.approx(0.5 * 0.125, rel=0.15)
    assert model.config.id2label == dict(enumerate(LABELS))
    assert not same(model.state_dict(), build_classifier(MODEL, LABELS, 50, 0, 2, None).state_dict())


def test_a_package_that_is_not_installed_is_named():
    from heuristic_core.config.models import PretrainedModel

    missing = PretrainedModel(name="m", source="pretrained", package="no_such_package", folder="model")
    with raises(ValueError, "no_such_package"):
        resolve_folder(missing)


def test_a_pretrained_encoder_from_a_folder_gets_a_classifier_of_the_seed(checkpoint):
    from heuristic_core.config.models import PretrainedModel

    model = PretrainedModel(name="m", source="pretrained", folder=str(checkpoint))
    loaded = build_classifier(model, LABELS, 50, 0, 1, 0.0)
    assert loaded.config.hidden_dropout_prob == 0.0
    assert loaded.config.id2label == dict(enumerate(LABELS))
