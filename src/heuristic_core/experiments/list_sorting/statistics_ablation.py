"""Statistics of claims about the effect of ablating one head, or what it suppresses."""

import pandas as pd

from heuristic_core.experiments.list_sorting.evidence import NATS, Evidence, sorting_statistic
from heuristic_core.experiments.list_sorting.modes import SUPPRESSION
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable
from heuristic_core.stats.means import UNLIMITED
from heuristic_core.stats.training_seeds import HIGHEST, PERCENT, extreme_mean

IDENTITY = ["condition", "seed"]  # of a model


@sorting_statistic
def without_suppression(evidence: Evidence, measure: str, kind: str, suppression: float, which: str) -> Estimate:
    """Compute how ablating the suppression of the head that suppresses most changes a measure, nats or points.

    At the last step, in the condition with the lowest or highest change, of those whose models suppress more than
    `suppression` percent on average.

    Args:
        evidence: Tables of the study.
        measure: Column of table "sorting_mode_ablations".
        kind: Kind of ablation.
        suppression: Percent; column `suppression` of table "sorting_models".
        which: lowest or highest.

    Raises:
        DoesNotApply: In no condition they do.
    """
    models = _models_above(evidence, "suppression", suppression)
    heads = evidence.select_final_rows("suppression", "sorting_heads").merge(models)
    top_heads = heads.sort_values("suppression", ascending=False, kind="stable").drop_duplicates(IDENTITY)
    changes = _changes(evidence, measure, kind, SUPPRESSION).merge(
        top_heads[[*IDENTITY, "head"]], on=[*IDENTITY, "head"]
    )
    limits = UNLIMITED if measure in NATS else (-100.0, 100.0)
    return _extreme(changes.set_index(IDENTITY)["change"] * (1 if measure in NATS else 100), which, limits)


@sorting_statistic
def cost_beyond_share(evidence: Evidence, kind: str, splitting: float) -> Estimate:
    """Compare the accuracy that ablating a head costs with the head's share of copying.

    The share is of the positive effects on a number that is next, mean over numbers. Points, the mean of absolute
    differences over heads, at the last step, in the condition with the highest mean, of those whose models split the
    vocabulary by more than `splitting` percent on average.

    Args:
        evidence: Tables of the study.
        kind: Kind of ablation.
        splitting: Percent.

    Raises:
        DoesNotApply: In no condition they do.
    """
    models = _models_above(evidence, "splitting", splitting)
    numbers = evidence.select_final_rows("effect", "sorting_numbers").astype({"effect": float})
    positive = numbers["effect"].clip(lower=0)
    whole = positive.groupby([numbers[name] for name in [*IDENTITY, "number"]]).transform("sum")
    share = (positive / whole.where(whole > 0)).groupby([numbers[name] for name in [*IDENTITY, "head"]]).mean()
    costs = _changes(evidence, "token_accuracy", kind).merge(models)
    costs = costs.merge(share.rename("share").reset_index(), on=[*IDENTITY, "head"])
    differences = 100 * (costs["share"] + costs["change"]).abs()
    return _extreme(differences.groupby([costs[name] for name in IDENTITY]).mean(), HIGHEST, PERCENT)


def _models_above(evidence: Evidence, measure: str, percent: float) -> pd.DataFrame:
    """Return condition and seed of the models of conditions whose mean of a measure is above `percent`.

    Conditions with a model that lacks the measure are left out.

    Raises:
        DoesNotApply: There is no such condition.
    """
    models = evidence.select_final_rows("loss")
    means = 100 * models.astype({measure: float}).groupby("condition")[measure].mean(skipna=False)
    if not (means > percent).any():
        raise DoesNotApply(f"in no condition the mean {measure} is above {percent:g} %")
    return models.loc[models["condition"].map(means) > percent, IDENTITY]


def _changes(evidence: Evidence, measure: str, kind: str, mode: str | None = None) -> pd.DataFrame:
    """Return condition, seed, head, and the change of a measure when only this head, or a mode of it, is ablated."""
    rows = evidence.select_final_rows(measure, "sorting_ablations")
    whole = rows[rows["kind"] == "none"].set_index(IDENTITY)[measure].astype(float)
    if mode is not None:
        rows = evidence.select_final_rows(measure, "sorting_mode_ablations")
        rows = rows[rows["mode"] == mode]
    single_heads = rows[(rows["kind"] == kind) & rows["ablated"].str.isdecimal()].astype({measure: float})
    if single_heads.empty:
        raise NotComputable(f"no {'head' if mode is None else mode} was ablated by itself by kind {kind}")
    before = whole.reindex(pd.MultiIndex.from_frame(single_heads[IDENTITY])).to_numpy()
    return single_heads[IDENTITY].assign(
        head=single_heads["ablated"].astype(int), change=single_heads[measure] - before
    )


def _extreme(values: pd.Series, which: str, limits: tuple[float, float]) -> Estimate:
    """Return the condition with the lowest or highest mean of values, within limits, by condition and seed."""
    groups = dict(list(values.groupby("condition", sort=False)))
    detail = ", ".join(f"{name} {group.mean():.3g}" for name, group in groups.items())
    return extreme_mean(groups, which, detail, limits)
