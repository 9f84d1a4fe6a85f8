"""Statistics of claims about effective size, on small tables with known answers, and the level of their test."""

import numpy as np
import pytest

from heuristic_core.analysis.estimates import CannotSay
from heuristic_core.analysis.frames import frame
from heuristic_core.experiments.heuristic_core.analysis import statistics_sizes as sizes
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence
from heuristic_core.experiments.heuristic_core.config.context import Context

RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1}
CONTEXT = Context(mid=0.3, high=0.5, last=30, seeds=(1, 2), curve_seeds=(1, 2), margin=3.0)


def size_rows(**groups):
    """Of table "effective_size". groups: mixed for mixed-1:1; step -> (full accuracy, size by seed or None)."""
    rows = []
    for group, by_step in groups.items():
        for step, (full, by_seed) in by_step.items():
            row = RUN | {"step": step, "group": group.replace("mixed", "mixed-1:1"), "order": "per-seed"}
            row |= {"criterion": "accuracy", "threshold": 3.0, "full_accuracy": full, "floor": 30.0}
            row |= {"reason": None if by_seed else f"undefined: full model at {full} %"}
            rows.append(row | {"seed": None, "effective_size": float(np.mean(by_seed)) if by_seed else None})
            seeds = zip((1, 2), by_seed or (None, None), strict=True)
            rows += [row | {"seed": seed, "effective_size": size} for seed, size in seeds]
    return rows


def evidence(**groups):
    return Evidence(CONTEXT, {"effective_size": frame("effective_size", size_rows(**groups))})


ID = {10: (90.0, (50.0, 40.0)), 20: (90.0, (45.0, 50.0)), 30: (90.0, (50.0, 60.0))}
OOD = {10: (0.5, None), 20: (40.0, (90.0, 80.0)), 30: (60.0, (70.0, 90.0))}
MIXED = {10: (45.0, (30.0, 40.0)), 20: (65.0, (70.0, 80.0)), 30: (75.0, (70.0, 90.0))}


def test_sizes_are_compared_by_seed():
    found = evidence(id=ID, ood=OOD)
    widths = sizes.size_range(found, group="id")
    assert (widths.value, widths.n) == (12.5, 2)  # 5 and 20 points
    gap = sizes.size_gap(found)
    assert gap.value == pytest.approx(37.5)  # 45 and 30 points at step 20
    assert "at step 20" in gap.detail
    undefined = sizes.undefined_sizes(found, group="ood")
    assert (undefined.value, undefined.n) == (1, 3)
    assert undefined.detail == "at steps 10 (full model 0.5 %)"


def test_sizes_of_the_mean_over_seeds_have_no_interval():
    rows = [row | {"order": "mean-first"} for row in size_rows(id=ID, ood=OOD, mixed=MIXED) if row["seed"] is None]
    about = CONTEXT.model_copy(update={"size_order": "mean-first"})
    found = Evidence(about, {"effective_size": frame("effective_size", rows)})
    values = [sizes.size_range(found, group="id"), sizes.size_gap(found), sizes.size_jump(found)]
    assert [one.value for one in values] == pytest.approx([10, 37.5, 37.5])
    assert np.isnan([[one.low, one.high] for one in values]).all()
    with pytest.raises(CannotSay, match="no effective size on id"):
        sizes.size_range(Evidence(CONTEXT, found.tables), group="id")


def test_a_size_at_the_floor_may_be_any_below_it():
    """The floor is 30: intervals reach from what follows if it is 30 to what follows if it is 0."""
    at_floor = {step: (full, (30.0, 30.0)) for step, (full, _) in ID.items()}
    gap = sizes.size_gap(evidence(id=at_floor, ood=OOD))  # 60 and 50 points at step 20, or up to 90 and 80
    assert gap.value == 55 and gap.low < 55 and gap.high > 85
    assert (sizes.size_gap(evidence(id=ID, ood=OOD)).high - 37.5) == pytest.approx(
        37.5 - sizes.size_gap(evidence(id=ID, ood=OOD)).low
    )
    below = sizes.size_gap(evidence(id=ID, ood=OOD | {20: (40.0, (30.0, 30.0))}))  # -15 and -20, or down to -45 and -50
    assert below.value == -17.5 and below.low < -47.5
    widths = sizes.size_range(evidence(id=at_floor), group="id")
    assert (widths.value, widths.low, widths.high) == (0, None, None)  # seeds that agree may do so by chance
    one_at_floor = {step: (full, (30.0, of_two)) for step, (full, (_, of_two)) in ID.items()}
    widths = sizes.size_range(evidence(id=one_at_floor), group="id")
    assert widths.value == 10 and widths.low < 10 and widths.high > 30
    jump = sizes.size_jump(evidence(id=ID, ood=OOD, mixed=MIXED | {10: (45.0, (30.0, 30.0))}))
    assert jump.value == 42.5 and jump.low < 42.5 and jump.high > 72.5


def test_a_jump_is_growth_beyond_that_in_domain():
    """From the checkpoint before generalisation; a size that is large throughout does not jump."""
    jump = sizes.size_jump(evidence(id=ID, ood=OOD, mixed=MIXED))
    assert (jump.value, jump.n) == (pytest.approx((45 + 30) / 2), 2)  # 40 - -5 and 40 - 10
    assert jump.detail.startswith("from step 10 to 20;")
    flat = {step: (full, (90.0, 80.0)) for step, (full, _) in MIXED.items()}
    assert sizes.size_jump(evidence(id=ID, ood=OOD, mixed=flat)).value == pytest.approx(-2.5)
    with pytest.raises(CannotSay, match="defined from the first checkpoint on, step 20"):
        sizes.size_jump(evidence(id=ID, ood={step: OOD[step] for step in (20, 30)}, mixed=MIXED))


def test_sizes_against_the_accuracy_of_the_full_model():
    rising = {step: (10.0 + step, (95.0 - step, 93.0 - 1.1 * step)) for step in range(1, 12)}
    found = sizes.size_against_ood(evidence(ood={0: (0.5, None)} | rising))
    assert found.detail.startswith("rho -1.00 from step 1 on") and found.n == 11
    other = {
        step: (full, by_seed[::-1])
        for (step, (full, _)), (_, by_seed) in zip(rising.items(), reversed(rising.values()), strict=True)
    }
    assert sizes.size_against_ood(evidence(ood=other)).value > 0.9
    with pytest.raises(CannotSay, match="defined at 2 checkpoints, 6 are needed"):
        sizes.size_against_ood(evidence(ood=OOD))


def test_the_test_holds_its_level_where_checkpoints_are_alike(monkeypatch):
    """Two series that have nothing in common but that each is like its own last value: a plain permutation test of
    ten checkpoints takes one pair of ten of them for falling."""
    monkeypatch.setattr(sizes, "SURROGATES", 400)
    rng, repeats, rejected, plain = np.random.default_rng(3), 300, 0, 0
    for _ in range(repeats):
        x, y = (autoregressive(rng, 10, 0.7) for _ in range(2))
        rho, p, _ = sizes.falling(x, y, rng)
        permuted = rng.permuted(np.tile(np.arange(10.0) - 4.5, (400, 1)), axis=1)
        rejected += p < 0.05
        plain += np.mean(permuted @ (x.argsort().argsort() - 4.5) / 82.5 <= rho) < 0.05
    assert rejected / repeats < 0.05 + 0.03 < plain / repeats


def autoregressive(rng, n, carried):
    values = [rng.standard_normal()]
    for _ in range(n - 1):
        values.append(carried * values[-1] + np.sqrt(1 - carried**2) * rng.standard_normal())
    return np.array(values)
