"""Statistics of claims about what a model loses without one head, or without what it suppresses."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate
from heuristic_core.analysis.training_seeds import HIGHEST, extreme
from heuristic_core.experiments.list_sorting.evidence import NATS, Evidence, statistic_of_sorting
from heuristic_core.experiments.list_sorting.modes import SUPPRESSION

IDENTITY = ["condition", "seed"]  # of a model


@statistic_of_sorting
def without_suppression(evidence: Evidence, measure: str, kind: str, suppression: float, which: str) -> Estimate:
    """What ablating the suppression of the head that suppresses most changes in a measure, nats or points, at the end.

    In the condition that has least or most of it, of those in which every model has a head that suppresses more than
    `suppression` percent of numbers. kind: of the ablation. which: lowest or highest.
    """
    heads = evidence.at_end("suppression", "sorting_heads")
    found = heads[100 * heads["suppression"] > suppression]
    found = _whole(found.sort_values("suppression", ascending=False, kind="stable").drop_duplicates(IDENTITY), heads)
    if found.empty:
        raise CannotSay(
            f"in no condition every model has a head that suppresses more than {suppression:g} % of numbers"
        )
    changes = _changes(evidence, measure, kind, SUPPRESSION).merge(found[[*IDENTITY, "head"]], on=[*IDENTITY, "head"])
    return _extreme(changes.set_index(IDENTITY)["change"] * (1 if measure in NATS else 100), which)


@statistic_of_sorting
def cost_beyond_range(evidence: Evidence, kind: str, splitting: float) -> Estimate:
    """By how much the accuracy that ablating a head costs differs from the share of numbers that it alone copies.

    Points, the mean of absolute differences over heads, at the last step, in the condition that has most of it, of
    those in which every model splits the vocabulary by more than `splitting` percent. kind: of the ablation.
    """
    models = evidence.at_end("splitting")
    split = _whole(models[100 * models["splitting"] > splitting], models)[IDENTITY]
    if split.empty:
        raise CannotSay(f"in no condition every model splits its vocabulary by more than {splitting:g} %")
    numbers = evidence.at_end("copies", "sorting_numbers")
    copied = numbers["copies"].astype(bool)
    alone = copied & (copied.groupby([numbers[name] for name in [*IDENTITY, "number"]]).transform("sum") == 1)
    shares = alone.groupby([numbers[name] for name in [*IDENTITY, "head"]]).mean().rename("alone").reset_index()
    costs = _changes(evidence, "token_accuracy", kind).merge(split).merge(shares, on=[*IDENTITY, "head"])
    beyond = 100 * (costs["alone"] + costs["change"]).abs()
    return _extreme(beyond.groupby([costs[name] for name in IDENTITY]).mean(), HIGHEST)


def _changes(evidence: Evidence, measure: str, kind: str, mode: str | None = None) -> pd.DataFrame:
    """condition, seed, head, and by how much ablating this head alone, or a mode of it, changes a measure."""
    rows = evidence.at_end(measure, "sorting_ablations")
    whole = rows[rows["kind"] == "none"].set_index(IDENTITY)[measure].astype(float)
    if mode is not None:
        rows = evidence.at_end(measure, "sorting_mode_ablations")
        rows = rows[rows["mode"] == mode]
    single = rows[(rows["kind"] == kind) & rows["ablated"].str.isdecimal()].astype({measure: float})
    if single.empty:
        raise CannotSay(f"no {'head' if mode is None else mode} was ablated by itself by kind {kind}")
    before = whole.reindex(pd.MultiIndex.from_frame(single[IDENTITY])).to_numpy()
    return single[IDENTITY].assign(head=single["ablated"].astype(int), change=single[measure] - before)


def _whole(found: pd.DataFrame, models: pd.DataFrame) -> pd.DataFrame:
    """The rows of `found` in whose condition it has every model. Seeds then differ in nothing but the seed."""
    have, of = (rows.groupby("condition")["seed"].nunique() for rows in (found, models))
    return found[found["condition"].map(have) == found["condition"].map(of)]


def _extreme(values: pd.Series, which: str) -> Estimate:
    """values: by condition and seed."""
    groups = dict(list(values.groupby("condition", sort=False)))
    each = ", ".join(f"{name} {own.mean():.3g}" for name, own in groups.items())
    return extreme(groups, which, each)
