"""Change points and stages on curves made for it: with noise, with missing values, without some stage or any."""

import numpy as np
import pytest
from amounts import amount
from mentions import mentions, raises
from pydantic import ValidationError

from heuristic_core.experiments.list_sorting.config_llc import Stages
from heuristic_core.experiments.list_sorting.stage_tables import (
    change_rows,
    find_all_stages,
    fit_curves,
    movement_rows,
    seed_stage_rows,
    stage_rows,
)
from heuristic_core.experiments.list_sorting.stages import (
    FALL,
    LEARNING,
    OVERLAP,
    RISE,
    SPECIALISATION,
    Stage,
    find_stages,
    fit_curve,
)

SETTINGS = Stages(bootstrap=200)
STEPS = [10, 16, 25, 40, 63, 100, 160, 250, 400, 630, 1000, 1600, 2500, 4000, 6300, 10000]


def curve(*points):
    """Straight lines in the logarithm of the step between (step, value)."""
    steps, values = zip(*points, strict=True)
    return np.interp(np.log(STEPS), np.log(steps), values)


def noisy(values, seed, share=0.02):
    return values + share * np.ptp(values) * np.random.default_rng(seed).normal(size=len(values))


LOSS = curve((10, 4.0), (100, 0.1), (10000, 0.04))
LATE = curve((400, 0.5), (2500, 0.05))  # the overlap: flat until step 400, falls until 2500
LLC = curve((10, 2.0), (100, 40.0), (400, 40.0), (2500, 15.0), (10000, 15.0))


@pytest.mark.parametrize(
    ("values", "steps", "directions"),
    [
        (LOSS, (10, 100, 10000), (FALL, 0)),
        (LATE, (10, 400, 2500, 10000), (0, FALL, 0)),
        (LLC, (10, 100, 400, 2500), None),
        (curve((10, 1.0), (10000, 3.0)), (10, 10000), (RISE,)),
        (np.full(16, 0.3), (10, 10000), (0,)),
    ],
)
def test_change_points_of_exact_curves_are_found(values, steps, directions):
    result = fit_curve(STEPS, values, SETTINGS)
    if directions is None:  # four change points: three are taken, and the largest runs are right
        assert result.run(RISE)[:2] == pytest.approx((10, 100))
        assert result.run(FALL).end in (2500, 4000)
        return
    assert result.steps == pytest.approx(steps) and result.directions == directions
    assert result.values == pytest.approx(np.interp(np.log(steps), np.log(STEPS), values), abs=0.02 * np.ptp(values))


@pytest.mark.parametrize("seed", range(5))
def test_noise_moves_change_points_by_a_measured_step_at_most(seed):
    for values, start, end in ((LOSS, 10, 100), (LATE, 400, 2500)):
        run = fit_curve(STEPS, noisy(values, seed), SETTINGS).run(FALL)
        assert abs(STEPS.index(round(run.start)) - STEPS.index(start)) <= 1
        assert abs(STEPS.index(round(run.end)) - STEPS.index(end)) <= 1


@pytest.mark.sampled
@pytest.mark.parametrize("count", [9, 12, 16])
def test_noise_alone_seldom_changes(count):
    draws = np.random.default_rng(count).normal(size=(amount(400), count))
    changed = [any(fit_curve(STEPS[:count], values, SETTINGS).directions) for values in draws]
    assert np.mean(changed) < 0.14 if len(draws) < 400 else np.mean(changed) < 0.08


def test_missing_values_are_left_out():
    holes = LATE.copy()
    holes[[0, 4, 9]] = np.nan
    assert fit_curve(STEPS, holes, SETTINGS).run(FALL)[:2] == pytest.approx((400, 2500))
    holes[5:] = np.nan
    assert fit_curve(STEPS, holes, SETTINGS) is None


def test_the_three_stages():
    fits = [fit_curve(STEPS, values, SETTINGS) for values in (LOSS, LATE)]
    assert find_stages(*fits) == [
        Stage(LEARNING, 10, pytest.approx(100)),
        Stage(OVERLAP, pytest.approx(100), pytest.approx(400)),
        Stage(SPECIALISATION, pytest.approx(400), pytest.approx(2500)),
    ]


def test_a_stage_that_is_not_there_has_a_reason():
    loss, late, flat, at_once = (
        fit_curve(STEPS, values, SETTINGS)
        for values in (LOSS, LATE, noisy(np.full(16, 0.3), 0) + 0, curve((10, 0.5), (1000, 0.05)))
    )
    learning, overlap, special = find_stages(loss, flat)
    assert learning.reason is None and special.start is None
    assert special.reason == overlap.reason and mentions(special.reason, "overlap")
    learning, overlap, special = find_stages(loss, at_once)
    assert special.reason is None and overlap.start is None
    assert mentions(overlap.reason, "overlap", 10, "loss", 100)
    learning, overlap, special = find_stages(flat, None)
    assert mentions(learning.reason, "loss") and mentions(overlap.reason, "loss", "overlap", 5)
    assert [item.start for item in (learning, overlap, special)] == [None] * 3
    assert find_stages(flat, late)[2].start == pytest.approx(400)


def seeds(*ends):
    """Overlaps that begin to fall at step 400 and end at these steps, one for each seed."""
    return np.array([curve((400, 0.5), (end, 0.05)) for end in ends])


def tables(curves):
    fits = fit_curves(STEPS, curves, SETTINGS)
    stages = find_all_stages(fits)
    return (
        {(row["stage"], row["point"]): row for row in stage_rows(STEPS, stages, SETTINGS)},
        {(row["curve"], row["run"], row["point"]): row for row in change_rows(STEPS, fits, SETTINGS)},
        {(row["curve"], row["stage"]): row for row in movement_rows(STEPS, curves, stages, SETTINGS)},
    )


def test_intervals_over_seeds():
    several = seeds(1600, 2500, 2500, 4000, 4000)
    rows, changes, moves = tables({"loss": np.tile(LOSS, (5, 1)), "overlap": several, "llc": np.tile(LLC, (5, 1))})
    end = rows[SPECIALISATION, "end"]
    assert end["step"] == pytest.approx(np.exp(np.log([1600, 2500, 2500, 4000, 4000]).mean()), rel=0.01)
    assert 1600 <= end["low"] < end["step"] < end["high"] <= 6300 and (end["seeds"], end["of"]) == (5, 5)
    same = rows[LEARNING, "end"]  # all seeds alike: the interval is the gap between measured steps
    assert (same["step"], same["low"], same["high"]) == (pytest.approx(100), 63, 160)
    assert rows[LEARNING, "start"]["low"] == 10
    assert changes["overlap", "fall", "end"]["step"] == end["step"]
    assert mentions(changes["overlap", "rise", "start"]["reason"], "rise")
    assert moves["overlap", SPECIALISATION]["direction"] == "falls"
    assert moves["llc", LEARNING]["direction"] == "rises" and moves["llc", LEARNING]["change"] > 25
    assert moves["llc", SPECIALISATION]["direction"] == "falls"
    again, _, _ = tables({"loss": np.tile(LOSS, (5, 1)), "overlap": several})
    assert again[SPECIALISATION, "end"] == end


def test_seeds_without_a_stage_are_counted_and_none_is_missing():
    curves = {"loss": np.tile(LOSS, (3, 1)), "overlap": np.vstack([seeds(2500, 2500), np.full((1, 16), 0.4)])}
    curves["llc"] = np.full((3, 16), np.nan)
    rows, changes, moves = tables(curves)
    assert (rows[SPECIALISATION, "start"]["seeds"], rows[SPECIALISATION, "start"]["of"]) == (2, 3)
    assert moves["llc", LEARNING]["reason"] and changes["llc", "fall", "start"]["reason"]
    of_seeds = seed_stage_rows([7, 8, 9], find_all_stages(fit_curves(STEPS, curves, SETTINGS)))
    special = [row for row in of_seeds if row["stage"] == SPECIALISATION]
    assert [(row["seed"], row["end"]) for row in special] == [(7, 2500), (8, 2500), (9, None)]
    assert [row["reason"] for row in special[:2]] == [None, None] and mentions(special[2]["reason"], "overlap")
    assert len(of_seeds) == 9
    rows, _, moves = tables({"loss": LOSS[None], "overlap": np.full((1, 16), 0.4)})
    gone = rows[OVERLAP, "start"]
    assert gone["step"] is None and gone["low"] is None and mentions(gone["reason"], "overlap")
    assert rows[LEARNING, "end"]["seeds"] == 1
    assert moves["loss", LEARNING]["reason"] and moves["loss", LEARNING]["direction"] is None


def test_settings_have_limits():
    with raises(ValidationError, "knots", 3):
        Stages(knots=4)
    with raises(ValidationError, "flat", 1):
        Stages(flat=1)
