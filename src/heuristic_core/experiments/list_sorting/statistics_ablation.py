"""Statistics of claims about what a model loses without one head."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.experiments.list_sorting.evidence import NATS, Evidence
from heuristic_core.experiments.list_sorting.intervals import over_seeds

IDENTITY = ["condition", "seed"]  # of a model


@statistic
def without_suppressor(evidence: Evidence, measure: str, kind: str, suppression: float) -> Estimate:
    """What ablating the head that suppresses most changes in a measure, nats or points, at the last step.

    kind: of the ablation. suppression: percent of numbers that the head must suppress, and more than it copies; models
    without such a head are left out.
    """
    heads = evidence.at_end("suppression", "sorting_heads")
    found = heads[(100 * heads["suppression"] > suppression) & (heads["suppression"] > heads["copying"])]
    if found.empty:
        raise CannotSay(f"no head suppresses more than {suppression:g} % of numbers and more than it copies")
    found = found.sort_values("suppression", ascending=False, kind="stable").drop_duplicates(IDENTITY)
    changes = _changes(evidence, measure, kind).merge(found[[*IDENTITY, "head"]], on=[*IDENTITY, "head"])
    return _over_models(changes.set_index(IDENTITY)["change"] * (1 if measure in NATS else 100))


@statistic
def cost_beyond_range(evidence: Evidence, kind: str, splitting: float) -> Estimate:
    """By how much the accuracy that ablating a head costs differs from the share of numbers that it alone copies.

    Points, the mean of absolute differences over heads, at the last step, of models that split the vocabulary by more
    than `splitting` percent. kind: of the ablation.
    """
    models = evidence.at_end("splitting")
    split = models.loc[100 * models["splitting"] > splitting, IDENTITY]
    if split.empty:
        raise CannotSay(f"no model splits its vocabulary by more than {splitting:g} %")
    numbers = evidence.at_end("copies", "sorting_numbers")
    copied = numbers["copies"].astype(bool)
    alone = copied & (copied.groupby([numbers[name] for name in [*IDENTITY, "number"]]).transform("sum") == 1)
    shares = alone.groupby([numbers[name] for name in [*IDENTITY, "head"]]).mean().rename("alone").reset_index()
    costs = _changes(evidence, "token_accuracy", kind).merge(split).merge(shares, on=[*IDENTITY, "head"])
    beyond = 100 * (costs["alone"] + costs["change"]).abs()
    return _over_models(beyond.groupby([costs[name] for name in IDENTITY]).mean())


def _changes(evidence: Evidence, measure: str, kind: str) -> pd.DataFrame:
    """condition, seed, head, and by how much ablating this head alone changes a measure."""
    rows = evidence.at_end(measure, "sorting_ablations")
    whole = rows[rows["kind"] == "none"].set_index(IDENTITY)[measure].astype(float)
    single = rows[(rows["kind"] == kind) & rows["ablated"].str.isdecimal()].astype({measure: float})
    if single.empty:
        raise CannotSay(f"no head was ablated by itself by kind {kind}")
    before = whole.reindex(pd.MultiIndex.from_frame(single[IDENTITY])).to_numpy()
    return single[IDENTITY].assign(head=single["ablated"].astype(int), change=single[measure] - before)


def _over_models(values: pd.Series) -> Estimate:
    """Over seeds: a seed's value is the mean over its models. values: by condition and seed."""
    conditions = list(dict.fromkeys(values.index.get_level_values("condition")))
    return over_seeds(values.groupby("seed").mean(), f"{len(values)} models of {', '.join(conditions)}")
