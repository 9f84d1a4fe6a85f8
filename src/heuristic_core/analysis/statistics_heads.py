"""Statistics of claims about heads: which are shared, how many generalising takes, and what the shared ones do."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.effective_size import state
from heuristic_core.analysis.estimates import CannotSay, Estimate, Evidence, some
from heuristic_core.analysis.frames import numpy_generator
from heuristic_core.analysis.seeds import mean_interval

# Roles of the set that holds the whole core, by its size: three heads are all among the strongest three. The strongest
# of a larger core are chosen by what they cost, so that comparing them with random sets would favour them.
WHOLE_CORE = ("core-all", "strongest", "pair", "core")
PAIRS = "pairs, drawn by template where a subset has several"
DRAWS = 10_000
LEAST = 20  # random sets, below which no p can be under 0.05


def shared_heads(evidence: Evidence, set: str) -> Estimate:
    """p that so many heads are in all subnetworks of a set, heads permuted within layers."""
    rows = evidence.table("core_null")
    row = some(rows[rows["set"] == set], f"comparison of {set} subnetworks with chance").iloc[0]
    detail = f"{row['observed']} heads in all {row['n']}, {row['expected']:.2g} expected, p = {row['p']:.2g}"
    return Estimate(row["p"], None, None, int(row["n"]), "subnetworks", detail, exact=True)


def size_range(evidence: Evidence, group: str) -> Estimate:
    """The range of effective size over the checkpoints where it is defined, points; t interval over pruning seeds."""
    sizes = _sizes(evidence, group)
    by_seed = (
        sizes[sizes["seed"].notna()].pivot(index="step", columns="seed", values="effective_size").dropna(how="all")
    )
    if len(by_seed) < 2:
        raise CannotSay(f"effective size on {group} is defined at {len(by_seed)} checkpoints: {_series(sizes)}")
    widths = (by_seed.max() - by_seed.min()).dropna()
    return Estimate(*mean_interval(widths), len(widths), "pruning seeds", f"by step: {_series(sizes)}")


def size_jump(evidence: Evidence) -> Estimate:
    """Effective size on OOD minus that on ID at the first checkpoint where the former is defined, points."""
    ood, id_ = _sizes(evidence, "ood"), _sizes(evidence, "id")
    defined = some(ood[ood["seed"].isna() & ood["effective_size"].notna()], "effective size on OOD at any checkpoint")
    step = defined["step"].min()
    pair = [
        rows[(rows["step"] == step) & rows["seed"].notna()].set_index("seed")["effective_size"] for rows in (ood, id_)
    ]
    jump = (pair[0] - pair[1]).dropna()
    if jump.empty:
        raise CannotSay(f"effective size on ID is not defined at step {step}")
    return Estimate(
        *mean_interval(jump), len(jump), "pruning seeds", f"at step {step}; OOD: {_series(ood)}; ID: {_series(id_)}"
    )


def undefined_sizes(evidence: Evidence, group: str) -> Estimate:
    """At how many checkpoints effective size on a group is undefined: the full model is not above the margin."""
    sizes = _sizes(evidence, group)
    sizes = sizes[sizes["seed"].isna()].sort_values("step", kind="stable")
    undefined = sizes[state(sizes) == "undefined"]
    steps = ", ".join(f"{row.step} (full model {row.full_accuracy:.1f} %)" for row in undefined.itertuples())
    detail = f"at steps {steps}" if steps else "nowhere"
    return Estimate(len(undefined), None, None, len(sizes), "checkpoints", detail, exact=True)


def ood_minus_id_drop(evidence: Evidence) -> Estimate:
    """What ablating the joint set costs on OOD minus what it costs on ID, points; pairs of both are independent."""
    rows = _joint(evidence)
    ood, id_ = (_group(rows, group) for group in ("ood", "id"))
    value = id_["change"] - ood["change"]
    detail = f"{ood['ablation']}: OOD {ood['change']:+.1f}, ID {id_['change']:+.1f}{_entailment(rows)} points"
    if pd.isna(ood["change_low"]) or pd.isna(id_["change_low"]):
        return Estimate(value, detail=detail)
    low = value - np.hypot(id_["change"] - id_["change_low"], ood["change_high"] - ood["change"])
    high = value + np.hypot(id_["change_high"] - id_["change"], ood["change"] - ood["change_low"])
    return Estimate(
        value, low, high, int(ood["n"] + id_["n"]), "pairs, drawn by template where a subset has several", detail
    )


def against_controls(evidence: Evidence) -> Estimate:
    """p that a random set of the same layers costs at least as much OOD accuracy as the joint set."""
    ood = _group(_joint(evidence), "ood")
    table = evidence.table("ablations")
    roles = ["control", "non-core"] if ood["size"] == 1 else ["control"]
    matched = table["role"].isin(roles) & (table["layers"] == ood["layers"]) & (table["kind"] == ood["kind"])
    controls = table[matched & table["subset"].isna() & (table["group"] == "ood")]["change"]
    if not table["role"].isin(roles).any():
        raise CannotSay("no random sets of heads were ablated")
    some(controls.to_frame(), f"random sets like {ood['ablation']}: too few heads outside the core in its layers")
    if len(controls) < LEAST:
        raise CannotSay(f"{len(controls)} random sets cannot decide, {LEAST} can: see analysis.control_draws")
    p = (1 + (controls <= ood["change"]).sum()) / (1 + len(controls))
    detail = (
        f"{ood['ablation']} {ood['change']:+.1f} points; {len(controls)} random sets {controls.mean():+.1f} on average"
    )
    return Estimate(
        p, None, None, len(controls), "random sets", f"{detail}, {controls.min():+.1f} at most, p = {p:.2g}", exact=True
    )


def interaction(evidence: Evidence, of: str) -> Estimate:
    """Drop of the joint set minus its single drops on OOD: points, or nats of log odds.

    Where ablating the set costs nothing out-of-domain there is no cost to compare: a model that comes to reject every
    pair gains OOD accuracy, up to a ceiling.
    """
    rows = _joint(evidence)
    row = _group(rows, "ood")
    if row["size"] < 2:
        raise CannotSay(f"the core has one head only, {row['ablation']}")
    if row["change"] > 0:
        raise CannotSay(f"ablating {row['ablation']} gains {row['change']:.1f} points out-of-domain{_entailment(rows)}")
    column = "interaction" if of == "accuracy" else "log_odds_interaction"
    if pd.isna(row[column]):
        raise CannotSay(f"no interaction in {of} of {row['ablation']}")
    ends = (None if pd.isna(row[end]) else row[end] for end in (f"{column}_low", f"{column}_high"))
    n = None if pd.isna(row["n"]) else int(row["n"])
    return Estimate(
        row[column],
        *ends,
        n,
        "pairs, drawn by template where a subset has several",
        f"{row['ablation']}: {row['change']:+.1f} points together",
    )


def lowest_interaction(evidence: Evidence) -> Estimate:
    """The lowest interaction of the joint set over OOD subsets, points: negative is sub-additive.

    Its interval holds for all subsets together: their intervals, widened as for a level of 95 % shared among them
    (Bonferroni, normal); the ends are the lowest of the lower and of the upper ones. Where no subset has an interval,
    as in print, the values are taken as they are.
    """
    rows = _joint(evidence)
    rows = rows[rows["subset"].notna() & (rows["group"] == "ood")].dropna(subset="interaction")
    some(rows, "interaction on any OOD subset")
    each = ", ".join(f"{row.subset} {row.interaction:+.1f}" for row in rows.itertuples())
    value, n = rows["interaction"].min(), len(rows)
    detail = f"negative on {(rows['interaction'] < 0).sum()} of {n}: {each}"
    if rows["interaction_low"].isna().any():
        return Estimate(value, None, None, n, "OOD subsets", detail, exact=True)
    wider = stats.norm.ppf(1 - 0.025 / n) / stats.norm.ppf(0.975)
    low = rows["interaction"] - wider * (rows["interaction"] - rows["interaction_low"])
    high = rows["interaction"] + wider * (rows["interaction_high"] - rows["interaction"])
    return Estimate(value, low.min(), high.min(), n, "OOD subsets", detail)


def repeated_word_attention(evidence: Evidence) -> Estimate:
    """p that as many random heads of the same layers attend as much to the repeated word as the core's do."""
    rows = evidence.table("attention")
    shares = rows[rows["category"] == "repeated"].set_index("component")["share"]
    heads = evidence.table("core")
    heads = heads[heads["kind"] == "head"].set_index("component")
    in_core = heads["in_core"].astype(bool)
    core = shares[in_core[in_core].index]
    some(core.to_frame(), "core head")
    draw, drawn = numpy_generator("repeated word attention", int(evidence.context.last)), np.zeros(DRAWS)
    for _, layer in heads.groupby("layer"):
        count = int(in_core[layer.index].sum())
        values = np.tile(shares[layer.index].to_numpy(), (DRAWS, 1))
        drawn += draw.permuted(values, axis=1)[:, :count].sum(axis=1)
    p, opposite = ((1 + (sign * (drawn - core.sum()) >= -1e-12).sum()) / (1 + DRAWS) for sign in (1, -1))
    others = shares[in_core[~in_core].index]
    detail = f"core {100 * core.mean():.1f} %, others {100 * others.mean():.1f} %, p = {p:.2g}"
    return Estimate(p, None, None, len(core), "core heads", detail, exact=True, opposite=opposite)


def _sizes(evidence: Evidence, group: str) -> pd.DataFrame:
    """Effective sizes on a group by accuracy at the study's margin, thresholded per seed."""
    rows = evidence.table("effective_size")
    main = (rows["criterion"] == "accuracy") & (rows["threshold"] == evidence.context.margin)
    here = main & (rows["group"] == group) & (rows["order"] == "per-seed")
    return some(rows[here], f"effective size on {group}")


def _series(sizes: pd.DataFrame) -> str:
    """For instance "500 undefined, 12500 96.7"."""
    means = sizes[sizes["seed"].isna()].sort_values("step", kind="stable")
    texts = means["effective_size"].map("{:.1f}".format, na_action="ignore").astype(object).fillna(state(means))
    return ", ".join(f"{step} {text}" for step, text in zip(means["step"], texts, strict=True))


def _joint(evidence: Evidence) -> pd.DataFrame:
    """The rows of the whole core together, of the first kind of ablation."""
    table = evidence.table("ablations")
    table = table[table["kind"] == table["kind"].iloc[0]]
    for role in WHOLE_CORE:
        rows = table[table["role"] == role]
        if len(rows):
            return rows[rows["ablation"] == rows["ablation"].iloc[0]]
    raise CannotSay("no core head was ablated")


def _group(rows: pd.DataFrame, group: str) -> pd.Series:
    here = rows[rows["subset"].isna() & (rows["group"] == group)].dropna(subset="change")
    return some(here, f"{group} accuracy of ablation {rows['ablation'].iloc[0]}").iloc[0]


def _entailment(rows: pd.DataFrame) -> str:
    here = rows[rows["subset"].isna() & (rows["group"] == "ood-entailment")]
    return f", entailment class {here['change'].iloc[0]:+.1f}" if len(here) else ""


STATISTICS = {
    f.__name__: f
    for f in (
        shared_heads, size_range, size_jump, undefined_sizes, ood_minus_id_drop, against_controls,
        interaction, lowest_interaction, repeated_word_attention,
    )
}  # fmt: skip
