"""Find counter-heuristic heads: the effect of each head in random subnetworks that contain the core, by subset.

Counter-heuristic heads are those that generalising subnetworks keep in addition to the core (paper, section 5). Masks
are drawn by :mod:`heuristic_core.experiments.subnetworks.analysis.random_masks`; effects and tests are in
:mod:`heuristic_core.experiments.subnetworks.analysis.mask_effects`.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, OOD, J, select_subsets
from heuristic_core.experiments.subnetworks.analysis.mask_effects import (
    ALPHA,
    MIN_MASKS,
    adjust_p,
    bootstrap_effects,
    compute_opposite_p,
    estimate_effects,
    find_counter_heuristic,
    profile_variance,
)
from heuristic_core.stats.bootstrap import HIGH_PERCENTILE, LOW_PERCENTILE
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.randomisation import tail_p_values
from heuristic_core.tables.columns import COMPONENT, SUBSET

RANDOM, LEARNED = "random", "learned"
TESTS = COUNTER, PROFILE, OPPOSITE = "counter", "profile", "opposite"
NO_POOL = "no sound mid-sparsity subnetwork keeps a head outside the core"
PERMUTATIONS = 1000
PERMUTATION_BATCH = 100  # permutations in memory at a time


class MaskScores(NamedTuple):
    """Masks and their accuracies.

    Attributes:
        run: Identity columns of the fine-tuning run.
        heads: Component indices of the pool, ascending.
        identity: Subset, group, family and n of each value, one row per value.
        kept: Whether a mask keeps a head of the pool, bool [masks, heads].
        values: Accuracy, percent, or J, points, [masks, values].
    """

    run: dict
    heads: list[int]
    identity: pd.DataFrame
    kept: np.ndarray
    values: np.ndarray

    def ood_accuracies(self) -> np.ndarray:
        """Return accuracies on the OOD subsets, percent, [masks, subsets]."""
        return self.values[:, ((self.identity["group"] == OOD) & self.identity["subset"].notna()).to_numpy()]

    def group_values(self, group: str) -> np.ndarray:
        """Return the mean accuracy on a group, or J, [masks, 1]; [masks, 0] if the study lacks it."""
        is_mean = self.identity["subset"].isna() & self.identity["family"].isna()
        return self.values[:, ((self.identity["group"] == group) & is_mean).to_numpy()]

    def test_values(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the values that define counter-heuristic heads: accuracies on OOD subsets, ID and J."""
        return self.ood_accuracies(), self.group_values(ID), self.group_values(J)


def collect_mask_scores(
    random_masks: pd.DataFrame, run: dict, subsets: Collection[str] | None = None
) -> tuple[MaskScores, MaskScores]:
    """Return the random and the learned masks of one run; the pool consists of the heads that learned masks keep.

    Args:
        random_masks: Table "random_masks" of the run.
        run: Identity columns.
        subsets: Analysed subsets, which the table's means and J are over; None for all.
    """
    is_subset = random_masks["subset"].notna()
    if is_subset.any():
        random_masks = pd.concat([select_subsets(random_masks[is_subset], subsets), random_masks[~is_subset]])
    by_kind = [random_masks[random_masks["kind"] == kind] for kind in (RANDOM, LEARNED)]
    heads = sorted({int(head) for kept in by_kind[1]["heads"] for head in kept})
    random, learned = (_pivot_scores(run, heads, rows) for rows in by_kind)
    return random, learned


def _pivot_scores(run: dict, heads: list[int], rows: pd.DataFrame) -> MaskScores:
    """Arrange the rows of one kind of masks as [masks, values]."""
    # As text, because a null is a value too.
    keys = rows[[*SUBSET]].astype(object).fillna("")
    value = keys.groupby([*SUBSET], sort=False).ngroup()
    about = rows.assign(value=value).drop_duplicates("value").sort_values("value", kind="stable")[[*SUBSET, "n"]]
    values = rows.assign(value=value).pivot(index="mask", columns="value", values="accuracy")
    kept = rows.drop_duplicates("mask").set_index("mask")["heads"].loc[values.index]
    masks = np.array([np.isin(heads, mask_heads) for mask_heads in kept]).reshape(len(kept), len(heads))
    return MaskScores(run, heads, about.reset_index(drop=True), masks, values.to_numpy(float))


def compute_counter_heads(
    random_masks: pd.DataFrame,
    components: pd.DataFrame,
    run: dict,
    bootstrap: int,
    seed: int,
    subsets: Collection[str] | None = None,
) -> pd.DataFrame:
    """Compute table "counter_heads" of one run; it is empty if the pool has no heads.

    Args:
        random_masks: Table "random_masks" of the run.
        components: Table "components", which has the names of heads.
        run: Identity columns.
        bootstrap: Number of resamples of masks, shared by all heads and values.
        seed: Seed of the resamples.
        subsets: Analysed subsets; None for all.
    """
    masks, _ = collect_mask_scores(random_masks, run, subsets)
    if not masks.heads:
        return make_frame("counter_heads", [])
    names = components[[*COMPONENT]].drop_duplicates("component").set_index("component", drop=False)
    rng = numpy_generator(seed, "counter heads", run["ft_seed"])
    return make_frame("counter_heads", _head_rows(masks, names.loc[masks.heads], bootstrap, rng))


def select_counter_heads(heads: pd.DataFrame) -> list[int]:
    """Return the component indices, ascending, of the heads that are counter-heuristic on any OOD subset.

    Args:
        heads: Table "counter_heads".
    """
    is_counter = heads["counter"].fillna(False).astype(bool) & (heads["group"] == OOD)
    return sorted(heads.loc[is_counter, "component"].unique().tolist())


def _head_rows(masks: MaskScores, names: pd.DataFrame, bootstrap: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the rows of one run, head by head."""
    beta, p, *_ = estimate_effects(masks.kept, masks.values)
    draws = bootstrap_effects(masks.kept, masks.values, bootstrap, rng)
    with np.errstate(invalid="ignore"):
        low, high = np.nanpercentile(np.where(np.isnan(beta), 0, draws), [LOW_PERCENTILE, HIGH_PERCENTILE], axis=0)
    q = np.full_like(p, np.nan)
    for _, kind in masks.identity.groupby(
        [masks.identity["group"], *(masks.identity[c].isna() for c in ("subset", "family"))]
    ):
        q[:, kind.index] = adjust_p(p[:, kind.index])
    passes = np.full(p.shape, None, dtype=object)
    if all(values.shape[1] for values in masks.test_values()):
        subsets = (masks.identity["group"] == OOD) & masks.identity["subset"].notna()
        passes[:, subsets.to_numpy()] = find_counter_heuristic(masks.kept, *masks.test_values())
        passes[np.isnan(beta)] = None
    count = np.repeat(masks.kept.sum(axis=0)[:, None], len(masks.identity), axis=1)
    no_p, too_few = np.isnan(p), f"fewer than {MIN_MASKS} masks have the head, or lack it, or two for each coefficient"
    no_error = np.where(no_p, "heads leave no error: all masks have the same value, or are explained wholly", None)
    columns = {
        "included": count,
        "excluded": len(masks.kept) - count,
        "beta": beta,
        "low": np.where(no_p, np.nan, low),
        "high": np.where(no_p, np.nan, high),
        "p": p,
        "q": q,
        "counter": passes,
        "reason": np.where(np.isnan(beta), too_few, no_error),
    }
    heads = names.loc[np.repeat(masks.heads, len(masks.identity))].reset_index(drop=True)
    about = pd.concat([masks.identity] * len(masks.heads), ignore_index=True)
    rows = pd.concat([heads, about[[*SUBSET]]], axis=1)
    return rows.assign(**masks.run, **{name: values.ravel() for name, values in columns.items()})


def compute_mask_tests(
    random_masks: pd.DataFrame, run: dict, seed: int, subsets: Collection[str] | None = None
) -> pd.DataFrame:
    """Compute table "mask_tests" of one run: are there counter-heuristic heads, and do their effects vary over subsets?

    The first two tests permute accuracies over masks. Their null hypotheses are that heads have no effect (`COUNTER`),
    and that heads have the same effect on all OOD subsets (`PROFILE`), so that differences between subsets do not
    depend on heads. Because accuracy has a floor and a ceiling, equal effects differ in size between subsets of unequal
    difficulty. The third test (`OPPOSITE`) therefore looks for effects of opposite signs.

    Args:
        random_masks: Table "random_masks" of the run.
        run: Identity columns.
        seed: Seed of the permutations.
        subsets: Analysed subsets; None for all.
    """
    masks, _ = collect_mask_scores(random_masks, run, subsets)
    identity = run | {"masks": len(masks.kept)}
    if (reason := _untested_reason(masks)) is not None:
        return make_frame("mask_tests", [identity | {"test": test, "reason": reason} for test in TESTS])
    rng = numpy_generator(seed, "mask tests", run["ft_seed"])
    order = rng.permuted(np.tile(np.arange(len(masks.kept)), (PERMUTATIONS, 1)), axis=1)
    parts = [
        _statistics(masks.kept, *(values[part] for values in masks.test_values()))
        for part in np.array_split(order, -(-PERMUTATIONS // PERMUTATION_BATCH))
    ]
    rows = []
    for test, observed in _statistics(masks.kept, *masks.test_values()).items():
        draws = np.concatenate([part[test] for part in parts])
        p, p_below = tail_p_values(draws, float(observed))
        row = {"test": test, "observed": float(observed), "expected": draws.mean(), "p": p, "p_below": p_below}
        rows.append(identity | row | {"draws": PERMUTATIONS})
    p = compute_opposite_p(masks.kept, masks.ood_accuracies())
    rows.append(identity | {"test": OPPOSITE, "observed": float((p < ALPHA).sum()), "p": float(p.min())})
    return make_frame("mask_tests", rows)


def _untested_reason(masks: MaskScores) -> str | None:
    """Return why the tests are impossible, or None if they are possible."""
    if not len(masks.kept):
        return NO_POOL
    if masks.ood_accuracies().shape[1] < 2 or not all(values.shape[1] for values in masks.test_values()):
        return "tests need two OOD subsets, an ID subset and J, which needs an ood-entailment subset"
    if np.isnan(estimate_effects(masks.kept, masks.ood_accuracies()).p).all():
        return "OOD accuracy does not vary, or masks are too few for the heads"
    return None


def _statistics(masks: np.ndarray, ood: np.ndarray, id_: np.ndarray, j: np.ndarray) -> dict[str, np.ndarray]:
    """Return the statistics of the permutation tests."""
    return {
        COUNTER: find_counter_heuristic(masks, ood, id_, j).sum(axis=(-2, -1)),
        PROFILE: profile_variance(masks, ood),
    }
