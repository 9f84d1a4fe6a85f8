"""Statistics of claims about effective size and CMD, on small tables with known answers, and their error rates."""

from functools import partial

import numpy as np
import pytest
from amounts import amount, by_chance
from mentions import mentions, raises
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis import statistics_sizes as sizes
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.estimates import NotComputable, TooFewUnits
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.verdicts import decide_verdict

RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1}
SEEDS = (1, 2, 3, 4, 5, 6)
CONTEXT = Context(mid=0.3, high=0.5, last=30, seeds=SEEDS, curve_seeds=SEEDS, margin=3.0)
FLOOR, DENSEST = 30.0, 90.0


def bounds(size):
    """The bounds that a grid from DENSEST to FLOOR sets to a size, as in the table."""
    if size is None:
        return dict.fromkeys(("effective_size", "least", "most"))
    if FLOOR < size < DENSEST:
        return dict.fromkeys(("effective_size", "least", "most"), size)
    ends = {"least": 0.0, "most": FLOOR} if size <= FLOOR else {"least": DENSEST, "most": 100.0}
    return {"effective_size": None} | ends


def size_rows(seeds=SEEDS, **groups):
    """Of table "effective_size". groups: mixed for mixed-1:1; step -> (full accuracy, size by seed or None)."""
    rows = []
    for group, by_step in groups.items():
        for step, (full, by_seed) in by_step.items():
            row = RUN | {"step": step, "group": group.replace("mixed", "mixed-1:1"), "order": "per-seed"}
            row |= {"criterion": "accuracy", "threshold": 3.0, "full_accuracy": full, "floor": FLOOR}
            row |= {"reason": None if by_seed else f"undefined: full model at {full} %"}
            of_seeds = zip(seeds, by_seed or [None] * len(seeds), strict=True)
            seeded = [row | {"seed": seed} | bounds(size) for seed, size in of_seeds]
            mean = {name: np.mean([item[name] for item in seeded]) if by_seed else None for name in ("least", "most")}
            known = mean["least"] if mean["least"] == mean["most"] else None
            rows += [row | {"seed": None, "effective_size": known} | mean, *seeded]
    return rows


def cmd_rows(seeds=SEEDS, reach=0.0, **groups):
    """Of table "circuit_performance". groups: step -> CMD by seed, or None."""
    for group, by_step in groups.items():
        for step, by_seed in by_step.items():
            row = RUN | {"step": step, "group": group, "reason": None if by_seed else "undefined: full model at 0 %"}
            yield row | {"seed": None, "cmd": float(np.mean(by_seed)) if by_seed else None}
            for seed, cmd in zip(seeds, by_seed or [None] * len(seeds), strict=True):
                yield row | {"seed": seed, "cmd": cmd, "reach": None if cmd is None else reach}


def evidence(size_groups, cmd_groups, seeds=SEEDS, reach=0.0):
    tables = {
        "effective_size": make_frame("effective_size", size_rows(seeds, **size_groups)),
        "circuit_performance": make_frame("circuit_performance", list(cmd_rows(seeds, reach, **cmd_groups))),
    }
    return Evidence(CONTEXT, {name: table for name, table in tables.items() if len(table)})


ID = {10: (90.0, (50, 50, 42, 42, 50, 42)), 20: (90.0, (45, 50, 50, 45, 45, 50)), 30: (90.0, (48, 44, 48, 44, 48, 44))}
MIXED = {10: (45.0, (35, 33, 35, 33, 35, 33)), 20: (65.0, (70, 80, 70, 80, 70, 80)), 30: (75.0, (70, 85) * 3)}
SIZES = {"id": ID, "mixed": MIXED}
CMD = {
    "id": {10: (20.0, 21.0) * 3, 20: (22.0, 20.0) * 3, 30: (19.0, 19.5) * 3},
    "j": {10: None, 20: (60.0, 63.0) * 3, 30: (50.0, 57.0) * 3},
}
FLAT = partial(sizes.share_with_flat_size, group="id", points=20)
RISING = sizes.share_with_rising_size


def judge(statistic, *tables, **options):
    result = statistic(evidence(*tables, **options))
    return decide_verdict(result, "> 50 %"), result.value


def test_claims_that_hold_in_every_seed_are_supported():
    """ID stays within 8 points; ID and OOD together grow by 35 to 47, and CMD on J is 38 to 43 above CMD on ID."""
    assert judge(FLAT, SIZES, CMD) == judge(RISING, SIZES, CMD) == ("supported", 100)
    assert mentions(RISING(evidence(SIZES, CMD)).detail, "6 of 6", 10, 20)


def test_a_seed_counts_if_both_measures_hold():
    large = (90.0, (15.0, 15.0, 15.0, 44.0, 48.0, 44.0))  # effective size of three seeds varies by more than 20 points
    assert judge(FLAT, SIZES | {"id": ID | {30: large}}, CMD) == ("not clear", 50)
    cmd = CMD | {"id": CMD["id"] | {30: (20.0, 20.0, 20.0, 45.0, 45.0, 45.0)}}
    assert judge(FLAT, SIZES, cmd) == ("not clear", 50)
    assert judge(FLAT, SIZES | {"id": ID | {30: large}}, cmd) == ("contradicted", 0)  # no seed holds by both


def test_a_size_that_is_a_bound_enters_as_a_bound():
    """A size above 90 may be 91 or 100: whether it grows by more than 45 points is known, by more than 55 is not."""
    above = SIZES | {"mixed": MIXED | {20: (65.0, (95.0,) * 6)}}
    assert judge(RISING, above, CMD) == ("supported", 100)
    close = SIZES | {"mixed": {10: (45.0, (89.0,) * 6), 20: (65.0, (95.0,) * 6)}}
    result = RISING(evidence(close | {"id": {10: ID[30], 20: ID[30]}}, CMD))
    assert mentions(result.detail, 20, 90) and decide_verdict(result, "> 50 %") == "supported"
    at_floor = {
        "id": {10: (90.0, (45.0,) * 6), 20: (90.0, (25.0,) * 6), 30: (90.0, (45.0,) * 6)}
    }  # a range between 15 and 45
    result = FLAT(evidence(at_floor, CMD))
    assert mentions(result.detail, "0 certainly", "6 possibly") and decide_verdict(result, "> 50 %") == "not clear"


def test_evaluation_pairs_make_seeds_uncertain():
    for statistic in (FLAT, RISING):
        assert judge(statistic, SIZES, CMD, reach=200.0)[0] == "not clear"


@pytest.mark.parametrize("statistic", [FLAT, RISING])
def test_five_seeds_are_too_few(statistic):
    size_groups = {
        group: {step: (full, row[:5]) for step, (full, row) in steps.items()} for group, steps in SIZES.items()
    }
    cmd_groups = {group: {step: cmd and cmd[:5] for step, cmd in steps.items()} for group, steps in CMD.items()}
    with raises(TooFewUnits, 5, 6):
        statistic(evidence(size_groups, cmd_groups, seeds=SEEDS[:5]))


@pytest.mark.parametrize("statistic", [FLAT, RISING])
def test_an_order_without_sizes_of_single_seeds_has_too_few(statistic):
    """Accuracies that are averaged before they are compared, as in the paper, have one size for all seeds."""
    whole = evidence(SIZES, CMD)
    rows = whole.tables["effective_size"]
    first = rows[rows["seed"].isna()].assign(order="mean-first")
    context = CONTEXT.model_copy(update={"size_order": "mean-first"})
    with raises(TooFewUnits, "mean-first"):
        statistic(Evidence(context, whole.tables | {"effective_size": first}))


def test_without_one_of_the_measures_nothing_is_said():
    with raises(NotComputable, "circuit_performance"):
        FLAT(evidence(SIZES, {}))
    with raises(NotComputable, "CMD", "J", 10, 20, "undefined: full model at 0 %"):
        RISING(evidence(SIZES, CMD | {"j": {10: None, 20: None}}))
    for steps in ((10,), (10, 20)):
        with raises(TooFewUnits, len(steps), 3):
            FLAT(evidence({"id": {step: ID[step] for step in steps}}, CMD))
    late = ({step: table[step] for step in (20, 30)} for table in (ID, MIXED, CMD["id"], CMD["j"]))
    id_, mixed, cmd, j = late
    with raises(TooFewUnits, 20):
        RISING(evidence({"id": id_, "mixed": mixed}, {"id": cmd, "j": j}))


@pytest.mark.parametrize("n", [6, 12])
def test_a_claim_that_holds_in_half_of_the_seeds_is_seldom_decided(n):
    """Sizes are either small or large, as those of seeds that find a faithful subnetwork or none."""
    seeds, id_ = tuple(range(n)), dict.fromkeys((10, 20), (90.0, (40.0,) * n))
    cmd = {"id": dict.fromkeys((10, 20), (20.0,) * n), "j": {10: None, 20: (60.0,) * n}}
    decided = 0.0  # the probability; of so many that grow, which of them do makes no difference
    for growing in range(n + 1):
        mixed = {10: (45.0, (35.0,) * n), 20: (65.0, tuple(np.where(np.arange(n) < growing, 80.0, 35.0)))}
        verdict = judge(RISING, {"id": id_, "mixed": mixed}, cmd, seeds=seeds)[0]
        decided += stats.binom.pmf(growing, n, 0.5) * (verdict in ("supported", "contradicted"))
    assert 0.01 < decided <= 0.06


@pytest.mark.sampled
@pytest.mark.parametrize("steps", [3, 8])
def test_a_range_at_the_limit_is_seldom_decided(steps):
    """CMD is 20 points higher on the later checkpoints, within all seeds, which share the errors of pairs."""
    rng, verdicts, count = np.random.default_rng(steps), [], amount(1200)
    at = 10 * np.arange(1, steps + 1)
    id_ = {int(step): (90.0, (40.0, 41.0) * 3) for step in at}
    for _ in range(count):
        cmd = np.where(at > at.mean(), 40.0, 20.0) + rng.normal(0, 2, steps)
        by_step = {int(step): (value,) * 6 for step, value in zip(at, cmd, strict=True)}
        verdicts.append(judge(FLAT, {"id": id_}, {"id": by_step}, reach=1.96 * 2)[0])
    assert max(verdicts.count("supported"), verdicts.count("contradicted")) <= by_chance(count)
