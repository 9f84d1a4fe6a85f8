"""Claims on subnetworks and the core against the full model: do intervals hold the truth, are verdicts seldom wrong?

Simulations, seeded. Models are right on a pair if their skill exceeds its difficulty, which they share in part.
"""

import numpy as np
import pandas as pd
import pytest
from amounts import amount, by_chance, covers, first_fast
from claim_tables import CONTEXT, RUN, table
from mentions import mentions
from scipy import stats
from test_degenerate import CHANCE, constant_class, mask_rows, run_rows, supported

from heuristic_core.experiments.subnetworks.analysis import statistics_heads as heads
from heuristic_core.experiments.subnetworks.analysis import statistics_sparsity as sparsity
from heuristic_core.experiments.subnetworks.analysis import statistics_spread as spread
from heuristic_core.experiments.subnetworks.analysis.controls import compute_controls
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.analysis.measures import Measure, Part, Subset
from heuristic_core.experiments.subnetworks.analysis.scores import compare_accuracy, compare_measure
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.stats.bootstrap import Resamples
from heuristic_core.stats.estimates import TooFewUnits
from heuristic_core.stats.verdicts import decide_verdict

PAIRS = 300  # of a subset
HAIR = 0.001  # points
DRAWS = 1000
CHANGE = ["accuracy", "low", "high", "units", "change", "change_low", "change_high"]


class Pairs:
    """Pairs of a subset: of one template, or of several, whose pairs are alike."""

    def __init__(self, templates=1, alike=0.1):
        self.names = np.arange(PAIRS) % templates
        self.alike = alike if templates > 1 else 0.0
        self.resamples = Resamples([f"t{name}" for name in self.names], DRAWS, np.random.default_rng(templates))

    def predict(self, rng, percent):
        """Models that are right on `percent` of all possible pairs, [models], on a sample of them."""
        difficulty = np.sqrt(self.alike) * rng.normal(size=self.names.max() + 1)[self.names]
        difficulty += np.sqrt(0.6 - self.alike) * rng.normal(size=PAIRS)
        noise = np.sqrt(0.4) * rng.normal(size=(PAIRS, len(percent)))
        right = (difficulty[:, None] + noise < stats.norm.ppf(np.array(percent) / 100)).astype(float)
        return Subset({}, right, None, 100 * self.resamples.means(right), self.resamples)


def compare(part):
    """Accuracies, and changes from the first model, with intervals over pairs."""
    return compare_accuracy([part], np.zeros(part.correct.shape[1], dtype=int))


def compare_j(ood, entailed):
    """The same of J."""
    levels = [100 * part.correct.mean(axis=0) for part in (ood, entailed)]
    parts = [
        Part(side, 1.0, level, part.draws - level, part.resamples, PAIRS)
        for side, part, level in zip(("ood", "ood-entailment"), (ood, entailed), levels, strict=True)
    ]
    return compare_measure(Measure("j", None, sum(levels) - 100, parts), np.zeros(len(levels[0]), dtype=int))


class Study(Evidence):
    """A study of sound runs whose scores are known."""

    def chance(self):
        return CHANCE

    def spread(self, *_):
        return self.tables["group_accuracy"].iloc[1:]

    def full(self, group, step=None):
        rows = self.tables["group_accuracy"]
        return rows[rows["group"] == group].iloc[0]


def make_study(columns, group, at):
    """columns: scores of the full model and of its subnetworks at one sparsity."""
    rows = pd.DataFrame({name: columns[name] for name in CHANGE})
    seeds = pd.array([None, *range(len(rows) - 1)], dtype="Int64")
    rows = rows.assign(step=CONTEXT.last, group=group, sparsity=at, seed=seeds, repeat=0)
    return Study(CONTEXT, {"group_accuracy": rows})


# ---- near the full model

CLOSE = {  # the full model's accuracy, that of a subnetwork which is just near enough, and the claim's options
    "high-sparsity-keeps-the-task": (
        90, CHANCE + 0.85 * (90 - CHANCE), {"group": "id", "sparsity": "high", "percent": 85}
    ),
    "near-the-full-model": (90, 87, {"group": "id", "sparsity": "mid", "points": 3}),
    "keep-entailment": (95, 85.5, {"group": "ood-entailment", "sparsity": "mid", "percent": 90}),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("seeds", "share", "away", "templates"),
    first_fast((12, 50, 3, 1), (12, 50, HAIR, 1), (12, 50, 9, 15), (12, 80, 3, 15), (6, 50, 9, 1)),
)
@pytest.mark.parametrize("claim", CLOSE)
def test_the_share_of_subnetworks_near_the_full_model(claim, seeds, share, away, templates):
    """Half of all possible subnetworks are near enough, on either side of the limit."""
    full, limit, options = CLOSE[claim]
    rng, pairs, held, verdicts = np.random.default_rng([seeds, share, templates]), Pairs(templates), [], []
    for _ in range(count := amount(1000)):
        near = rng.random(seeds) < share / 100
        of_subnetworks = np.where(near, limit + min(away, (100 - limit) / 2), limit - away)
        scores = compare(pairs.predict(rng, [full, *of_subnetworks]))
        result = spread.share_near_full(make_study(scores, options["group"], 0.3), **options)
        held.append(result.low <= share <= result.high)
        verdicts.append(decide_verdict(result, "> 50 %"))
    assert covers(held)
    if share == 50:
        assert max(verdicts.count("supported"), verdicts.count("contradicted")) <= by_chance(count)


def test_five_subnetworks_are_too_few():
    options = CLOSE["near-the-full-model"][-1]
    rng = np.random.default_rng(0)
    columns = compare(Pairs().predict(rng, [90, *[89] * 5]))
    with pytest.raises(TooFewUnits):
        spread.share_near_full(make_study(columns, "id", 0.3), **options)


# ---- as good beyond a sparsity


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("seeds", "good", "rest", "templates"),
    [
        *first_fast((12, 0, HAIR, 1), (12, 1, 20, 1), (12, 6, HAIR, 30), (12, 0, HAIR, 30), fast=2),
        *first_fast((5, 0, HAIR, 30), (5, 1, 20, 30), (36, 0, HAIR, 1), (36, 1, 20, 1), fast=0),
    ],
)
def test_how_many_subnetworks_are_as_good(seeds, good, rest, templates):
    """`good` have as much J as the full model less the margin and a hair, and the others lack `rest` points of it."""
    rng, held, wrong = np.random.default_rng([seeds, good, templates]), [], 0
    pairs = Pairs(templates)
    drop = CONTEXT.margin + np.where(np.arange(seeds) < good, -HAIR, rest)
    for _ in range(count := amount(1000)):
        scores = compare_j(pairs.predict(rng, [80, *(80 - drop)]), pairs.predict(rng, [95] * (1 + seeds)))
        result = sparsity.as_good_beyond(make_study(scores, "j", 0.5), group="j", sparsity=0.3)
        held.append(result.value == good if result.low is None else result.low <= good <= result.high)
        wrong += decide_verdict(result, "< 1 subnetwork") == ("supported" if good else "contradicted")
    assert covers(held) and wrong <= by_chance(count)


# ---- learned against control subnetworks


def simulate_controls(rng, pairs, studies, spread_of_seeds):
    """Intervals of the difference from each control, which is as good as the learned: a study is a subset of pairs."""
    kinds = ["learned"] * 12 + ["random"] * 12 + ["importance"]
    right = np.stack([
        pairs.predict(rng, [*(60 + spread_of_seeds * rng.normal(size=24)), 60]).correct for _ in range(studies)
    ])  # fmt: skip
    models = np.repeat(np.arange(len(kinds)), PAIRS)
    drawn = pd.DataFrame({"control": np.take(kinds, models), "seed": np.where(models < 24, models % 12, 0)})
    cell = RUN | {"step": CONTEXT.last, "repeat": 0, "sparsity": CONTEXT.high, "group": "id"}
    drawn = drawn.assign(**cell, family=None, template=None, pair=np.tile(range(PAIRS), len(kinds)))
    drawn = pd.concat([
        drawn.assign(subset=f"a{k}", accuracy=100 * study.T.ravel()) for k, study in enumerate(right)
    ])  # fmt: skip
    controls = compute_controls(drawn, Analysis(bootstrap=200))
    controls = controls[controls["subset"].notna()].set_index("control")
    return [controls.loc[[name], ["difference_low", "difference_high"]].to_numpy() for name in ("random", "importance")]


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("spread_of_seeds", [0.5, 3, 10])
def test_how_much_subnetworks_beat_controls_that_are_as_good(spread_of_seeds):
    rng, pairs, count, batch = np.random.default_rng([12, 10]), Pairs(), amount(1000), 25
    batches = [simulate_controls(rng, pairs, batch, spread_of_seeds) for _ in range(count // batch)]
    for intervals in zip(*batches, strict=True):
        low, high = np.concatenate(intervals).T
        assert len(low) == count and covers((low <= 0) & (high >= 0))


# ---- the core, beyond the task


@pytest.mark.sampled
@pytest.mark.parametrize("templates", first_fast(1, 15))
@pytest.mark.parametrize("lost", first_fast(50, 10, 90))
def test_the_share_that_the_core_costs_beyond_the_task(lost, templates):
    """The core costs as large a share of J as of in-domain accuracy above chance."""
    rng, held, verdicts = np.random.default_rng([lost, templates]), [], []
    of_j, of_id, left = Pairs(templates), Pairs(), 1 - lost / 100
    for _ in range(count := amount(1000)):
        j = compare_j(of_j.predict(rng, [65, 2 + 63 * left]), of_j.predict(rng, [95, 98 - 3 * left]))
        task = compare(of_id.predict(rng, [90, CHANCE + left * (90 - CHANCE)]))
        columns = {name: [np.broadcast_to(part[name], 2) for part in (j, task)] for name in CHANGE}
        rows = pd.DataFrame({name: np.concatenate(parts) for name, parts in columns.items()}).assign(
            group=["j", "j", "id", "id"], step=CONTEXT.last, seed=None, subset=None
        )
        core = rows.iloc[[1, 3]].assign(role="strongest", ablation="0.0+1.1", kind="mean", n=PAIRS)
        result = heads.share_lost_beyond_the_task(Study(CONTEXT, {"group_accuracy": rows, "ablations": core}))
        held.append(result.low <= 0 <= result.high)
        verdicts.append(decide_verdict(result, "> 0 points"))
    assert covers(held)
    assert max(verdicts.count("supported"), verdicts.count("contradicted")) <= by_chance(count)


# ---- random weights


def test_random_weights_earn_no_verdict():
    """Their guesses are as good as those of their subnetworks; all else looks well, as of subnetworks of one class."""
    rng, tables = np.random.default_rng(0), constant_class()
    scores, levels = tables["group_accuracy"], {"id": CHANCE, "ood": 100 - CHANCE, "ood-entailment": CHANCE, "j": 0.0}
    guessed = scores["group"].astype(object).map(levels) + rng.normal(0, 0.5, len(scores))
    ends = {"low": guessed - 2, "high": guessed + 2, "change": 0.0, "change_low": -2.0, "change_high": 2.0}
    tables |= {"group_accuracy": scores.assign(accuracy=guessed, **ends), "runs": table("runs", run_rows())}
    seen = supported(tables | {"components": table("components", mask_rows(True))})
    assert not set(seen["verdict"]) & {"supported", "contradicted"}
    assert seen.loc["near-the-full-model", "verdict"] == "failed runs"
    assert mentions(seen.loc["near-the-full-model", "detail"], "full model", f"chance {CHANCE:.1f} %")


def test_few_templates_are_too_few_for_simultaneous_intervals():
    """With four templates a side, 15 to 29 % of such studies were contradicted."""
    pairs, rng = Pairs(4), np.random.default_rng(0)
    scores = compare_j(pairs.predict(rng, [80] * 13), pairs.predict(rng, [95] * 13))
    with pytest.raises(TooFewUnits):
        sparsity.as_good_beyond(make_study(scores, "j", 0.5), group="j", sparsity=0.3)
