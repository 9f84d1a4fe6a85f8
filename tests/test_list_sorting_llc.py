"""The LLC where it is known: closed forms of quadratic losses, quadrature of singular ones, divergence."""

import math

import numpy as np
import pytest
import torch
from mentions import mentions, raises
from pydantic import ValidationError

from heuristic_core.experiments.list_sorting.config_llc import Checks, Langevin, LocalLearning
from heuristic_core.experiments.list_sorting.llc import estimate_llc
from heuristic_core.experiments.list_sorting.llc_chains import Chain, chain_rows, summarise_chains

SIZE, PRIOR, N_BETA, DRAWS = 1e-3, 100.0, 50.0, 600
CURVES = torch.logspace(-2, 1.3, 60)  # eigenvalues of the Hessian
BUT_RAW = {"scaled": None, "tilted": None}


def settings(**changes):
    defaults = {"raw": Langevin(step_size=SIZE, localisation=PRIOR), "n_beta": N_BETA, "draws": DRAWS, "chains": 3}
    return LocalLearning(**{**defaults, **BUT_RAW, "batch_size": 1, "gradient_examples": 1, **changes})


def draw_nothing(count, generator):
    return None


def quadratic(curves=CURVES, slope=0.0):
    return lambda parameters, batch: (curves * parameters["w"] ** 2 / 2 + slope * parameters["w"]).sum(-1)


def gibbs(curves, size=SIZE, n_beta=N_BETA, prior=PRIOR):
    """The LLC of a quadratic loss at its minimum, and its standard error in a chain of `draws` draws times the root.

    Of every direction, u_t = (1 - size a / 2) u_(t-1) + normal(0, size) with a = n_beta h + prior: its variance is
    1 / (a (1 - size a / 4)), and 1 / a in small steps. The squares of such a chain are correlated as rho^2.
    """
    a = n_beta * curves + prior
    parts = n_beta * curves / 2 / (a * (1 - size * a / 4))
    square = (1 - size * a / 2) ** 2
    return float(parts.sum()), math.sqrt(float((2 * parts**2 * (1 + square) / (1 - square)).sum()))


@pytest.fixture(scope="module")
def quadratic_estimate():
    return estimate_llc(quadratic(), {"w": torch.zeros(2, len(CURVES))}, draw_nothing, settings(), [4, 5])


def test_a_quadratic_loss_has_the_value_of_the_closed_form(quadratic_estimate):
    expected, spread = gibbs(CURVES)
    error = spread / math.sqrt(3 * DRAWS)
    for result in quadratic_estimate.rows:
        assert result["reason"] is None and result["local"] and result["converged"] and result["stable"]
        assert abs(result["value"] - expected) < 4 * error
        assert error / 20 < result["standard_error"] < 4 * error
        assert result["step_effect"] == pytest.approx(gibbs(CURVES, SIZE / 2)[0] - expected, abs=8 * error)
    assert expected == pytest.approx(float((N_BETA * CURVES / 2 / (N_BETA * CURVES + PRIOR)).sum()), rel=0.15)
    assert len(quadratic_estimate.chains) == 2 * 4


def test_what_is_drawn_is_named():
    """The same seeds give the same bytes, whichever models are in the pass; another seed, others."""

    def select(*seeds, **changes):
        sampling = settings(draws=40, **changes)
        return estimate_llc(quadratic(), {"w": torch.zeros(len(seeds), len(CURVES))}, draw_nothing, sampling, seeds)

    both, alone = select(4, 5), select(5)
    assert select(4, 5) == both
    assert alone.rows == both.rows[1:] and alone.chains == both.chains[4:]
    assert select(5, seed=1).chains[0]["mean"] != alone.chains[0]["mean"]


@pytest.mark.slow
def test_scaled_coordinates_count_in_root_mean_squares_of_each_tensor():
    """Two tensors: one of weights 1/2, one of zeros, whose unit is the floor."""
    curves = {"a": torch.full((1, 4, 10), 3.0), "b": torch.full((1, 20), 40.0)}

    def losses(parameters, batch):
        away = {"a": parameters["a"] - 0.5, "b": parameters["b"]}
        return sum((curves[name] * distance**2 / 2).flatten(1).sum(-1) for name, distance in away.items())

    sampling = settings(raw=None, scaled=Langevin(step_size=SIZE, localisation=PRIOR), scale_floor=0.2)
    start = {"a": torch.full((1, 4, 10), 0.5), "b": torch.zeros(1, 20)}
    (result,) = estimate_llc(losses, start, draw_nothing, sampling, [1]).rows
    expected, spread = gibbs(torch.cat([torch.full((40,), 3 * 0.5**2), torch.full((20,), 40 * 0.2**2)]))
    assert abs(result["value"] - expected) < 4 * spread / math.sqrt(3 * DRAWS)
    assert result["displacement"] < 0.2 and result["start_loss"] == 0


@pytest.mark.slow
def test_tilted_takes_the_slope_at_w0_from_the_loss():
    """scaled finds a chain that slides down: nonzero mean -n_beta g / a in each direction. tilted does not see it."""
    langevin = Langevin(step_size=SIZE, localisation=PRIOR)
    slope = 0.3
    start = {"w": torch.zeros(1, len(CURVES))}

    def both(**bounds):
        checks = Checks(largest_rise=9, **bounds)
        sampling = settings(raw=None, scaled=langevin, tilted=langevin, scale_floor=1.0, checks=checks)
        return estimate_llc(quadratic(slope=slope), start, draw_nothing, sampling, [1]).rows

    scaled, tilted = both(largest_slide=9)
    expected, spread = gibbs(CURVES)
    mean = -N_BETA * slope / (N_BETA * CURVES + PRIOR)
    slid = float((N_BETA * (CURVES * mean**2 / 2 + slope * mean)).sum())
    error = spread / math.sqrt(3 * DRAWS)
    assert abs(tilted["value"] - expected) < 4 * error
    assert slid < -20 * error and scaled["value"] == pytest.approx(expected + slid, abs=30 * error)
    assert tilted["slide"] == pytest.approx((N_BETA * slope) ** 2 * len(CURVES) / PRIOR)
    assert (scaled["level"], tilted["level"]) == (True, None)
    scaled, again = both()
    assert again == tilted and scaled["value"] is None and scaled["level"] is False
    assert mentions(scaled["reason"], "w0")


def test_batches_are_fresh_shared_by_models_and_paired():
    """Losses that differ by example in their level alone: pairing leaves none of the difference."""
    seen = []

    def draw(count, generator):
        seen.append(torch.randn(count, generator=generator))
        return 100 * seen[-1]

    def losses(parameters, batch):
        return quadratic()(parameters, None)[:, None] + batch

    few = settings(draws=40, batch_size=5, gradient_examples=12, checks=Checks(largest_rise=1e4))
    start = {"w": torch.zeros(2, len(CURVES))}
    noisy = estimate_llc(losses, start, draw, few, [1, 2])
    assert [len(item) for item in seen[:4]] == [5, 5, 2, 5] and len({float(item[0]) for item in seen}) == len(seen)
    plain = estimate_llc(quadratic(), start, draw_nothing, few, [1, 2])
    for a, b in zip(noisy.chains, plain.chains, strict=True):
        assert a["mean"] == pytest.approx(b["mean"], rel=1e-3)


@pytest.mark.slow
def test_a_singular_loss_has_less_than_half_its_dimension():
    """Pairs with loss w1^2 w2^2, of LLC 1/2 and not 1, against quadrature of their Gibbs measure.

    Steps are so small that the steepest places that a chain comes to, about 2 n_beta 3^2 (3 prior radii), are stable.
    """
    pairs, n_beta = 60, 30.0
    grid = np.linspace(-6, 6, 1501) ** 2
    loss = n_beta * np.multiply.outer(grid, grid)
    weight = np.exp(-loss - np.add.outer(grid, grid) / 2)
    each = float((weight * loss).sum() / weight.sum())

    def losses(parameters, batch):
        return (parameters["w"][..., 0] ** 2 * parameters["w"][..., 1] ** 2).sum(-1)

    raw = Langevin(step_size=2e-3, localisation=1.0)
    sampling = settings(
        raw=raw, n_beta=n_beta, burn_in=1000, draws=1000, half_step_chains=0, checks=Checks(largest_rise=9)
    )
    (result,) = estimate_llc(losses, {"w": torch.zeros(1, pairs, 2)}, draw_nothing, sampling, [3]).rows
    assert each < 0.4 < 1  # a regular loss of two weights
    assert result["value"] == pytest.approx(pairs * each, rel=0.1)
    assert result["converged"] and result["stable"] is None


def test_flat_directions_add_nothing():
    curves = torch.cat([torch.full((10,), 5.0), torch.zeros(300)])
    (result,) = estimate_llc(quadratic(curves), {"w": torch.zeros(1, 310)}, draw_nothing, settings(), [1]).rows
    expected, spread = gibbs(curves)
    assert abs(result["value"] - expected) < 4 * spread / math.sqrt(3 * DRAWS)
    assert result["value"] < 10 / 2


LENIENT = Checks(largest_rise=9, largest_drift=9, largest_r_hat=9)


@pytest.mark.parametrize(
    ("changes", "failed", "bound"),
    [
        ({"raw": Langevin(step_size=9e-3, localisation=PRIOR)}, "diverged", 3),
        ({"checks": Checks(largest_rise=0.01)}, "diverged", 0.01),
        ({"raw": Langevin(step_size=1.6e-3, localisation=PRIOR)}, "stable", f"{Checks().largest_step_effect:g}"),
        ({"checks": Checks(largest_distance=0.3)}, "local", 0.3),
        ({"checks": Checks(largest_drift=1e-5)}, "converged", 1e-5),
        ({"checks": Checks(largest_r_hat=1.00001)}, "converged", 1.00001),
    ],
)
def test_a_value_whose_chains_fail_is_missing_with_the_reason(changes, failed, bound):
    curves = torch.logspace(-1, 1.55, 60)
    sampling = settings(draws=300, **{"checks": LENIENT, **changes})
    (result,) = estimate_llc(quadratic(curves), {"w": torch.zeros(1, 60)}, draw_nothing, sampling, [1]).rows
    assert result["value"] is None and result["standard_error"] is None
    assert (result["diverged"] > 0) if failed == "diverged" else (result[failed] is False)
    assert mentions(result["reason"], bound)


def test_chains_far_from_a_small_w0_are_not_local():
    sampling = settings(draws=100)
    (result,) = estimate_llc(quadratic(), {"w": torch.full((1, 60), 1e-3)}, draw_nothing, sampling, [1]).rows
    assert result["value"] is None and result["local"] is False
    assert mentions(result["reason"], f"{result['displacement']:.3g}")


def test_a_model_that_diverges_leaves_the_others_as_they_are():
    steep = torch.tensor([[2.0], [1e5], [3.0]])

    def select(*at):
        def losses(parameters, batch):
            return (steep[list(at)] * parameters["w"] ** 2 / 2).sum(-1)

        return estimate_llc(
            losses, {"w": torch.zeros(len(at), 50)}, draw_nothing, settings(draws=50, checks=LENIENT), at
        )

    together = select(0, 1, 2)
    assert [row["value"] is None for row in together.rows] == [False, True, False]
    assert together.rows[1]["diverged"] == 3 and together.rows[1]["distance"] is None
    assert [chain["mean"] for chain in together.chains if chain["model"] == 1] == [None] * 4
    assert select(0).rows + select(2).rows == [together.rows[0], together.rows[2]]


def test_a_loss_that_is_not_finite_at_w0_is_a_missing_value():
    (result,) = estimate_llc(quadratic(), {"w": torch.full((1, 60), torch.nan)}, draw_nothing, settings(), [1]).rows
    assert result["value"] is None and result["diverged"] == result["chains"] and mentions(result["reason"], "w0")


def chain(values, distance=0.5, norm=10.0):
    return Chain(np.asarray(values, dtype=float), np.full(len(values), distance), norm)


def test_diagnostics_of_chains_by_hand():
    full = [chain([9, 11, 10, 12]), chain([10, 8, 8, 10], 0.6)]
    result = summarise_chains(full, [chain([9, 9, 9, 9])], Checks())
    assert result["value"] == pytest.approx((10.5 + 9) / 2) and result["standard_error"] == pytest.approx(0.75)
    assert result["drift"] == 1 and result["distance"] == pytest.approx(0.6)
    assert result["displacement"] == pytest.approx(0.06) and result["step_effect"] == pytest.approx(9 - 9.75)
    # halves (9, 11), (10, 12), (10, 8), (8, 10): within 2, means 10, 11, 9, 9 of variance 11/12
    assert result["r_hat"] == pytest.approx(math.sqrt(1 / 2 + 11 / 12 / 2))
    assert [row["step_size"] for row in chain_rows(full, full[:1])] == ["full", "full", "half"]
    failed = summarise_chains(full, [chain([90, 90, 90, 90])._replace(end_step=3)], Checks())
    assert failed["value"] is None and failed["stable"] is False and failed["reason"]


def test_opposite_drifts_do_not_cancel():
    result = summarise_chains([chain([12, 12, 10, 10]), chain([8, 8, 13, 13])], [], Checks(largest_r_hat=99))
    assert result["drift"] == 5 and result["value"] is None and result["converged"] is False
    assert mentions(result["reason"], 0.47, 0.25)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (BUT_RAW | {"raw": None}, ("raw", "scaled", "tilted")),
        ({"raw": {"step_size": 1e-2, "localisation": 200.0}}, ("step_size", 0.005)),
        ({"burn_in": 19}, ("burn_in", 19, 20, "raw")),
        ({"chains": 1}, ("chains", 2)),
        ({"n_beta": 0}, ("n_beta", 0)),
        ({"checks": {"largest_r_hat": 1}}, ("largest_r_hat", 1)),
        ({"gamma": 1}, ("gamma", 1)),
    ],
)
def test_an_impossible_setting_is_one_message(values, named):
    with raises(ValidationError, *named) as error:
        LocalLearning(**values)
    assert error.value.error_count() == 1
