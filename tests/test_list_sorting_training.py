"""Training of list-sorting models: the same bytes alone, together, and cut off, and the optimizers' own rules."""

import pytest
import torch
from list_sorting import Plain, study
from mentions import raises

from heuristic_core.common.errors import DivergenceError
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.model import compute_losses, initialise_parameters
from heuristic_core.experiments.list_sorting.training import learning_rate_at, train
from heuristic_core.training.finetune import Batches


class Cut(Exception):
    pass


def trained(made, state=None, cut_at=None, seeds=None):
    """Parameters by kept step, and what training gives; at the kept step `cut_at` the run is cut off."""
    kept = {}

    def keep(step, parameters):
        if step == cut_at:
            raise Cut
        kept[step] = parameters

    return kept, train(made, draw_lists(made.data).train, keep, state, seeds)


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_checkpoints_are_kept_from_the_first_weights_on():
    made = study()
    kept, result = trained(made)
    assert list(kept) == [0, 4, 8, 12]
    assert same(kept[0], initialise_parameters(made.data, made.model, (1, 2, 3)))
    assert same(kept[12], result.parameters)
    assert result.losses.shape == (12, 3)


@pytest.mark.parametrize("optimiser", ["adam-l2", "adamw", "adam"])
def test_a_seed_is_the_same_bytes_alone_and_among_others(optimiser):
    made = study(training={"optimiser": optimiser, "weight_decay": 0 if optimiser == "adam" else 0.1})
    kept, together = trained(made)
    for m, seed in enumerate((1, 2, 3)):
        alone, result = trained(made, seeds=[seed])
        assert torch.equal(result.losses[:, 0], together.losses[:, m])
        for step in kept:
            assert same(alone[step], {name: value[m : m + 1] for name, value in kept[step].items()})


@pytest.mark.parametrize("cut_at", [4, 8, 12])
def test_a_run_that_is_cut_off_and_resumed_ends_with_the_same_bytes(tmp_path, cut_at):
    made, state = study(), tmp_path / "state.safetensors"
    kept, whole = trained(made)
    with pytest.raises(Cut):
        trained(made, state, cut_at)
    assert state.is_file() == (cut_at > 5)
    later, resumed = trained(made, state)
    assert 0 in later if cut_at == 4 else set(later) == {step for step in kept if step > (5 if cut_at == 8 else 10)}
    assert same(whole.parameters, resumed.parameters)
    assert torch.equal(whole.losses, resumed.losses)
    assert all(same(kept[step], later[step]) for step in later)


def test_the_state_of_other_seeds_or_a_damaged_one_is_not_used(tmp_path):
    made, state = study(), tmp_path / "state.safetensors"
    with pytest.raises(Cut):
        trained(made, state, 8)
    kept, result = trained(made, state, seeds=[1, 2])
    assert 0 in kept and result.losses.shape == (12, 2)
    state.write_bytes(state.read_bytes()[:-1])
    assert 0 in trained(made, state)[0]


def test_loss_falls():
    _, result = trained(study(training={"steps": 150, "learning_rate": 0.03, "final_learning_rate": 0.01}))
    assert (result.losses[-10:].mean(0) < 0.5 * result.losses[0]).all()


@pytest.mark.parametrize("optimiser", ["adam-l2", "adamw", "adam"])
def test_steps_are_those_of_a_plain_loop(optimiser):
    """A loop over one plain model's parameters with torch's optimizer, not fused."""
    made = study(
        model={"layer_norm": False},
        training={
            "optimiser": optimiser,
            "weight_decay": 0 if optimiser == "adam" else 0.1,
            "steps": 3,
            "checkpoints": [3],
        },
    )
    _, result = trained(made, seeds=[2])
    settings, tokens = made.training, make_sequences(draw_lists(made.data).train, made.data)
    leaves = {name: value.requires_grad_() for name, value in initialise_parameters(made.data, made.model, [2]).items()}
    kind = torch.optim.AdamW if optimiser == "adamw" else torch.optim.Adam
    plain = kind(leaves.values(), lr=1.0, weight_decay=settings.weight_decay)
    batches = Batches(len(tokens), settings.batch_size, 2)
    for step in range(3):
        batch = tokens[batches.at(step)]
        plain.zero_grad()
        loss = torch.nn.functional.cross_entropy(Plain(leaves, 0)(batch).flatten(0, 1), batch[:, 5:].flatten())
        loss.backward()
        plain.param_groups[0]["lr"] = learning_rate_at(step, settings)
        plain.step()
    for name, value in leaves.items():
        if name != "key_bias":  # no loss depends on it: its gradient is rounding, which Adam scales up
            torch.testing.assert_close(result.parameters[name], value.detach(), rtol=1e-3, atol=1e-5)


def test_the_rate_is_linear_from_the_first_to_the_final_one():
    settings = study(training={"steps": 10, "checkpoints": None}).training
    assert learning_rate_at(0, settings) == pytest.approx(1e-3)
    assert learning_rate_at(5, settings) == pytest.approx(5.5e-4)
    assert learning_rate_at(10, settings) == pytest.approx(1e-4)


def test_a_run_that_diverges_names_seed_and_step():
    made = study(model={"layer_norm": False}, training={"learning_rate": 1e30, "final_learning_rate": 0.0})
    with raises(DivergenceError, 1, "training.learning_rate"):
        trained(made)


def test_losses_are_means_over_the_sorted_numbers_of_a_list():
    made = study()
    tokens = make_sequences(draw_lists(made.data).held_out, made.data)
    parameters = initialise_parameters(made.data, made.model, (1,))
    plain = Plain(parameters, 0)(tokens).log_softmax(-1)
    expected = -torch.stack([plain[:, i].gather(1, tokens[:, 5 + i, None])[:, 0] for i in range(4)], 1).mean(1)
    torch.testing.assert_close(compute_losses(parameters, tokens)[0], expected)
