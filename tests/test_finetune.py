"""Fine-tuning: it learns, repeats itself, and resumes to the weights of an uninterrupted run."""

import pytest
import torch
from conftest import make_encoded

from heuristic_core.config.blocks import Finetune
from heuristic_core.config.models import Architecture, Initialisation, NewModel
from heuristic_core.errors import Diverged
from heuristic_core.finetune import Batches, finetune
from heuristic_core.models.pretrained import location, starting_model

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


def run(state, settings=SETTINGS, cut_at=None):
    """Fine-tune a tiny model; at the kept step `cut_at` the run is cut off."""
    model = starting_model(MODEL, LABELS, 50, 0, 1, settings.dropout)
    kept = {}

    def keep(step):
        kept[step] = {k: v.clone() for k, v in model.state_dict().items()}
        if step == cut_at:
            raise Cut

    logits = {}
    record = finetune(model, make_encoded(50), make_encoded(30, seed=1), settings, 1, keep, logits.__setitem__, state)
    return model.state_dict(), kept, record, logits


def same(a, b):
    return all(torch.equal(a[k], b[k]) for k in a)


def test_an_interrupted_run_resumes_to_the_same_weights_and_records(tmp_path):
    weights, kept, record, logits = run(tmp_path / "whole.safetensors")
    with pytest.raises(Cut):
        run(tmp_path / "cut.safetensors", cut_at=12)
    assert (tmp_path / "cut.safetensors").is_file()
    resumed_weights, resumed_kept, resumed_record, resumed_logits = run(tmp_path / "cut.safetensors")
    assert same(weights, resumed_weights)
    assert set(resumed_kept) == {12, 24}  # the last saved state was before step 12
    assert same(kept[24], resumed_kept[24])
    assert record.trace == resumed_record.trace
    assert set(resumed_logits) == {12, 18, 24}  # what came after the saved state
    assert all(torch.equal(logits[step], resumed_logits[step]) for step in resumed_logits)


def test_loss_falls(tmp_path):
    longer = SETTINGS.model_copy(update={"steps": 150, "dropout": 0.0, "checkpoints": [150]})
    _, _, record, _ = run(tmp_path / "state.safetensors", longer)
    assert record.trace[-1]["loss"] < 0.6 * record.trace[0]["loss"]


def test_evaluations_cover_step_0_and_every_interval(tmp_path):
    _, _, _, logits = run(tmp_path / "state.safetensors")
    assert list(logits) == [0, 6, 12, 18, 24]
    assert all(one.shape == (30, 3) for one in logits.values())
    assert not torch.equal(logits[0], logits[6])


def test_divergence_names_the_step(tmp_path):
    wild = SETTINGS.model_copy(update={"learning_rate": 1e30, "clip_norm": None, "dropout": 0.0})
    with pytest.raises(Diverged, match="diverged at step"):
        run(tmp_path / "state.safetensors", wild)


def test_every_epoch_is_a_permutation_of_its_own():
    batches = Batches(10, 3, ft_seed=1)
    epochs = [torch.cat([batches.at(3 * epoch + part) for part in range(3)]).tolist() for epoch in range(2)]
    assert all(len(set(epoch)) == 9 for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert torch.equal(batches.at(4), Batches(10, 3, 1).at(4))
    assert not torch.equal(batches.at(0), Batches(10, 3, 2).at(0))
    with pytest.raises(ValueError, match=r"batch_size = 11"):
        Batches(10, 11, 1)


def test_the_recipe_ties_keys_to_queries_and_treats_all_heads_alike():
    model = starting_model(MODEL, LABELS, 50, 0, 1, None)
    for layer in model.bert.encoder.layer:
        attention = layer.attention.self
        assert torch.equal(attention.query.weight, attention.key.weight)
    flat = torch.cat([layer.attention.self.query.weight.flatten() for layer in model.bert.encoder.layer])
    assert float(flat.detach().std()) == pytest.approx(1.4 * 0.125, rel=0.1)
    positions = model.bert.embeddings.position_embeddings.weight
    assert float(positions.detach().std()) == pytest.approx(0.5 * 0.125, rel=0.15)
    assert model.config.id2label == dict(enumerate(LABELS))
    assert not same(model.state_dict(), starting_model(MODEL, LABELS, 50, 0, 2, None).state_dict())


def test_a_package_that_is_not_installed_is_named():
    from heuristic_core.config.models import PretrainedModel

    missing = PretrainedModel(name="m", source="pretrained", package="no_such_package", folder="model")
    with pytest.raises(ValueError, match="'no_such_package' is not installed"):
        location(missing)


def test_a_pretrained_encoder_from_a_folder_gets_a_classifier_of_the_seed(checkpoint):
    from heuristic_core.config.models import PretrainedModel

    model = PretrainedModel(name="m", source="pretrained", folder=str(checkpoint))
    loaded = starting_model(model, LABELS, 50, 0, 1, 0.0)
    assert loaded.config.hidden_dropout_prob == 0.0
    assert loaded.config.id2label == dict(enumerate(LABELS))
