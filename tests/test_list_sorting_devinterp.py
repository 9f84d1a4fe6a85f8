"""The LLC beside devinterp's sampler, on a model whose loss is known."""

import math

import pytest
import torch
import torch.nn.functional as F

from heuristic_core.experiments.list_sorting.config_llc import Langevin, LocalLearning
from heuristic_core.experiments.list_sorting.llc import compute_start, estimate_llc, make_chain_settings


def bigrams(parameters, tokens):
    """Mean cross-entropy of the next token from the present one, [M, B]. tokens: [B, length]."""
    hidden = parameters["embed"][:, tokens[:, :-1]]
    logits = hidden @ parameters["unembed"][:, None]
    targets = tokens[:, 1:].expand(len(logits), -1, -1)
    each = F.cross_entropy(logits.flatten(0, 2), targets.flatten(), reduction="none")
    return each.view(targets.shape).mean(-1)


class Away(torch.nn.Module):
    """The loss in the coordinates of an estimator, less that at w0: what devinterp walks in."""

    def __init__(self, start, chain_settings):
        super().__init__()
        self.away, self._start, self._settings = (
            torch.nn.Parameter(torch.zeros_like(start.weights)),
            start,
            chain_settings,
        )

    def forward(self, tokens):
        def at(away):
            return bigrams(self._start.layout.parameters(self._start.weights + self._settings.units * away), tokens)

        rise = at(self.away) - at(torch.zeros_like(self.away))
        slope = 0.0 if self._settings.slope is None else (self._settings.slope * self.away).sum()
        return (rise - slope).T.expand(-1, tokens.shape[1] - 1)


@pytest.mark.slow
def test_devinterp_agrees(tmp_path):
    """devinterp 2.0.1 (pip install devinterp==2.0.1) on a small language model that L2 keeps from its minimum."""
    sampling = pytest.importorskip("devinterp.slt.sampling", reason="devinterp 2.0.1 is not installed")
    datasets = pytest.importorskip("datasets")
    generator = torch.Generator().manual_seed(0)
    chances = torch.rand(8, 8, generator=generator) ** 4
    tokens = torch.randint(8, (4096, 1), generator=generator)
    for _ in range(5):
        tokens = torch.cat([tokens, torch.multinomial(chances[tokens[:, -1]], 1, generator=generator)], 1)
    model = {"embed": torch.randn(1, 8, 4, generator=generator), "unembed": torch.randn(1, 4, 8, generator=generator)}
    for value in model.values():
        value.requires_grad_()
    optimizer = torch.optim.Adam(model.values(), lr=0.05, weight_decay=0.005)
    for _ in range(300):
        optimizer.zero_grad()
        bigrams(model, tokens).mean().backward()
        optimizer.step()
    model = {name: parameter.detach() for name, parameter in model.items()}

    langevin = Langevin(step_size=5e-4, localisation=100.0)
    llc = LocalLearning(
        n_beta=200.0, batch_size=64, raw=langevin, scaled=None, tilted=langevin, draws=800, chains=4,
        half_step_chains=0, gradient_examples=4096,
    )  # fmt: skip

    def draw(count, generator):
        return tokens[torch.randint(len(tokens), (count,), generator=generator)]

    start = compute_start(bigrams, model, lambda count, generator: tokens, llc.model_copy(update={"batch_size": 4096}))
    for result in estimate_llc(bigrams, model, draw, llc, [1]).rows:
        samples = sampling.sample(
            Away(start, make_chain_settings(result["estimator"], langevin, start, llc)),
            datasets.Dataset.from_dict({"input_ids": tokens.tolist()}).with_format("torch"),
            {},
            loss_fn=lambda model, tokens: model(tokens),
            lr=langevin.step_size, localization=langevin.localisation, n_beta=llc.n_beta, batch_size=llc.batch_size,
            num_chains=4, num_draws=llc.burn_in + llc.draws, num_init_loss_batches=1, device="cpu",
            match_sampling_input_ids_across_chains=False, output_path=tmp_path / f"{result['estimator']}.zarr",
        )  # fmt: skip
        rises = samples.dataset.sampling_loss_micro.values[:, llc.burn_in :].mean(axis=(1, 2, 3))
        theirs, error = llc.n_beta * rises.mean(), llc.n_beta * rises.std(ddof=1) / 2
        print(result["estimator"], result["value"], result["standard_error"], theirs, error)
        assert result["reason"] is None
        assert abs(result["value"] - theirs) < 4 * math.hypot(error, result["standard_error"]) + 0.02 * theirs
