"""Counter-heuristic heads: what each head adds to random subnetworks that contain the core, subset by subset.

The paper calls heads counter-heuristic that subnetworks which generalise have beside the core (section 5). Masks are
drawn by :mod:`heuristic_core.experiments.heuristic_core.analysis.random_masks`, effects and tests are of
:mod:`heuristic_core.experiments.heuristic_core.analysis.mask_effects`.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.analysis.bootstrap import HIGH, LOW
from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.randomisation import tails
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.accuracy import ID, OOD, J, chosen
from heuristic_core.experiments.heuristic_core.analysis.mask_effects import (
    LEAST,
    LEVEL,
    adjusted,
    counter,
    effects,
    opposite,
    profile_variance,
    resampled,
)
from heuristic_core.tables.columns import COMPONENT, SUBSET

RANDOM, LEARNED = "random", "learned"
TESTS = COUNTER, PROFILE, OPPOSITE = "counter", "profile", "opposite"
NO_POOL = "no sound mid-sparsity subnetwork keeps a head outside the core"
PERMUTATIONS = 1000
TOGETHER = 100  # permutations that are in memory at once


class MaskScores(NamedTuple):
    """Masks and what they score. run: identity columns. heads: component indices of the pool, ascending.

    about: of each value its subset, group and family, and n. inside: bool, [masks, heads]. values: [masks, values].
    numbers: of each mask its number or pruning seed.
    """

    run: dict
    heads: list[int]
    about: pd.DataFrame
    inside: np.ndarray
    values: np.ndarray
    numbers: list[int]

    def ood(self) -> np.ndarray:
        """Accuracies on the OOD subsets."""
        return self.values[:, ((self.about["group"] == OOD) & self.about["subset"].notna()).to_numpy()]

    def whole(self, group: str) -> np.ndarray:
        """The mean accuracy on a group, or J, [masks, 1]; [masks, 0] of a study without it."""
        whole = self.about["subset"].isna() & self.about["family"].isna()
        return self.values[:, ((self.about["group"] == group) & whole).to_numpy()]

    def judged(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What tells which heads are counter-heuristic: OOD subsets, ID and J."""
        return self.ood(), self.whole(ID), self.whole(J)


def mask_scores(
    random_masks: pd.DataFrame, run: dict, subsets: Collection[str] | None = None
) -> tuple[MaskScores, MaskScores]:
    """The random and the learned masks of one run, from its table "random_masks"; the pool is what learned ones keep.

    run: identity columns. subsets: the subsets that are analysed, of which the table's means and J are; None for all.
    """
    named = random_masks["subset"].notna()
    if named.any():
        random_masks = pd.concat([chosen(random_masks[named], subsets), random_masks[~named]])
    of_kind = [random_masks[random_masks["kind"] == kind] for kind in (RANDOM, LEARNED)]
    heads = sorted({int(head) for kept in of_kind[1]["heads"] for head in kept})
    random, learned = (_scores(run, heads, rows) for rows in of_kind)
    return random, learned


def _scores(run: dict, heads: list[int], rows: pd.DataFrame) -> MaskScores:
    # As text, for a null is a value, too.
    keys = rows[[*SUBSET]].astype(object).fillna("")
    value = keys.groupby([*SUBSET], sort=False).ngroup()
    about = rows.assign(value=value).drop_duplicates("value").sort_values("value", kind="stable")[[*SUBSET, "n"]]
    values = rows.assign(value=value).pivot(index="mask", columns="value", values="accuracy")
    kept = rows.drop_duplicates("mask").set_index("mask")["heads"].loc[values.index]
    inside = np.array([np.isin(heads, own) for own in kept]).reshape(len(kept), len(heads))
    numbers = [int(mask) for mask in values.index]
    return MaskScores(run, heads, about.reset_index(drop=True), inside, values.to_numpy(float), numbers)


def counter_heads(
    random_masks: pd.DataFrame,
    components: pd.DataFrame,
    run: dict,
    bootstrap: int,
    seed: int,
    subsets: Collection[str] | None = None,
) -> pd.DataFrame:
    """Table "counter_heads" of one run from its table "random_masks"; no rows where the pool has no heads.

    components: table "components", which names heads. run: identity columns. bootstrap: resamples of masks, the same
    for all heads and values. subsets: as of :func:`mask_scores`.
    """
    masks, _ = mask_scores(random_masks, run, subsets)
    if not masks.heads:
        return frame("counter_heads", [])
    names = components[[*COMPONENT]].drop_duplicates("component").set_index("component", drop=False)
    rng = numpy_generator(seed, "counter heads", run["ft_seed"])
    return frame("counter_heads", _of_run(masks, names.loc[masks.heads], bootstrap, rng))


def counter_heuristic(heads: pd.DataFrame) -> list[int]:
    """Component indices, ascending, of the heads that table "counter_heads" has against the heuristic on any OOD
    subset."""
    against = heads["counter"].fillna(False).astype(bool) & (heads["group"] == OOD)
    return sorted(heads.loc[against, "component"].unique().tolist())


def _of_run(masks: MaskScores, names: pd.DataFrame, bootstrap: int, rng: np.random.Generator) -> pd.DataFrame:
    """The rows of one run, head by head."""
    beta, p, *_ = effects(masks.inside, masks.values)
    draws = resampled(masks.inside, masks.values, bootstrap, rng)
    with np.errstate(invalid="ignore"):
        low, high = np.nanpercentile(np.where(np.isnan(beta), 0, draws), [LOW, HIGH], axis=0)
    q = np.full_like(p, np.nan)
    for _, kind in masks.about.groupby([masks.about["group"], *(masks.about[c].isna() for c in ("subset", "family"))]):
        q[:, kind.index] = adjusted(p[:, kind.index])
    passes = np.full(p.shape, None, dtype=object)
    if all(values.shape[1] for values in masks.judged()):
        subsets = (masks.about["group"] == OOD) & masks.about["subset"].notna()
        passes[:, subsets.to_numpy()] = counter(masks.inside, *masks.judged())
        passes[np.isnan(beta)] = None
    count = np.repeat(masks.inside.sum(axis=0)[:, None], len(masks.about), axis=1)
    unknown, few = np.isnan(p), f"fewer than {LEAST} masks have the head, or lack it, or two for each coefficient"
    equal = np.where(unknown, "heads leave no error: all masks have the same value, or are explained wholly", None)
    columns = {
        "included": count,
        "excluded": len(masks.inside) - count,
        "beta": beta,
        "low": np.where(unknown, np.nan, low),
        "high": np.where(unknown, np.nan, high),
        "p": p,
        "q": q,
        "counter": passes,
        "reason": np.where(np.isnan(beta), few, equal),
    }
    heads = names.loc[np.repeat(masks.heads, len(masks.about))].reset_index(drop=True)
    about = pd.concat([masks.about] * len(masks.heads), ignore_index=True)
    rows = pd.concat([heads, about[[*SUBSET]]], axis=1)
    return rows.assign(**masks.run, **{name: values.ravel() for name, values in columns.items()})


def mask_tests(
    random_masks: pd.DataFrame, run: dict, seed: int, subsets: Collection[str] | None = None
) -> pd.DataFrame:
    """Table "mask_tests" of one run from its table "random_masks": are there counter-heuristic heads, and do heads
    differ by subset?

    The null distribution of two tests gives what masks score to other masks: p is exact where the first test's heads
    do nothing, and where the second test's heads have the same effect on every OOD subset, so that what one subset has
    more of than the others has nothing to do with heads. Subsets of other difficulty show an effect in other size, as
    accuracy has a floor and a ceiling. So a third test asks for effects of opposite signs.

    subsets: as of :func:`mask_scores`.
    """
    masks, _ = mask_scores(random_masks, run, subsets)
    about = run | {"masks": len(masks.inside)}
    if (reason := _untested(masks)) is not None:
        return frame("mask_tests", [about | {"test": test, "reason": reason} for test in TESTS])
    rng = numpy_generator(seed, "mask tests", run["ft_seed"])
    order = rng.permuted(np.tile(np.arange(len(masks.inside)), (PERMUTATIONS, 1)), axis=1)
    parts = [
        _statistics(masks.inside, *(values[part] for values in masks.judged()))
        for part in np.array_split(order, -(-PERMUTATIONS // TOGETHER))
    ]
    rows = []
    for test, observed in _statistics(masks.inside, *masks.judged()).items():
        draws = np.concatenate([part[test] for part in parts])
        p, p_below = tails(draws, float(observed))
        row = {"test": test, "observed": float(observed), "expected": draws.mean(), "p": p, "p_below": p_below}
        rows.append(about | row | {"draws": PERMUTATIONS})
    p = opposite(masks.inside, masks.ood())
    rows.append(about | {"test": OPPOSITE, "observed": float((p < LEVEL).sum()), "p": float(p.min())})
    return frame("mask_tests", rows)


def _untested(masks: MaskScores) -> str | None:
    """Why there is no test; None if there is."""
    if not len(masks.inside):
        return NO_POOL
    if masks.ood().shape[1] < 2 or not all(values.shape[1] for values in masks.judged()):
        return "tests need two OOD subsets, an ID subset and J, which needs an ood-entailment subset"
    if np.isnan(effects(masks.inside, masks.ood()).p).all():
        return "OOD accuracy does not vary, or masks are too few for the heads"
    return None


def _statistics(inside: np.ndarray, ood: np.ndarray, id_: np.ndarray, j: np.ndarray) -> dict[str, np.ndarray]:
    return {COUNTER: counter(inside, ood, id_, j).sum(axis=(-2, -1)), PROFILE: profile_variance(inside, ood)}
