"""Claims about heads: which are shared, how many components generalising takes, and what the shared heads are for.

Paper, sections 4 to 6.
"""

import pandas as pd

from heuristic_core.analysis.effective_size import ROUNDING
from heuristic_core.analysis.evidence import CannotSay, Evidence, Verdict, entailment_class, group_row

# The usual level, for each test; every p stands in the estimate.
LEVEL = 0.05
# More than half: one head of a core, be it there early or costly to ablate, does not speak for the core.
MOST = 0.5
# Sparsity grids go by 5 to 10 points, so that 20 are two to four steps of a quantity that a threshold makes jumpy.
FLAT = 20.0


def shared_beyond_chance(evidence: Evidence) -> Verdict:
    nulls = [evidence.null(name) for name in ("high", "mid+high")]
    return Verdict(all(null["p"] < LEVEL for null in nulls), "; ".join(map(_against_chance, nulls)))


def core_is_early(evidence: Evidence) -> Verdict:
    core, early = evidence.core_heads(), evidence.null("early")
    if core.empty:
        raise CannotSay("the core is empty")
    present = core[core["early"] == early["n"]]
    text = f"{len(present)} of {len(core)} core heads in every early subnetwork; {_against_chance(early)}"
    return Verdict(bool(len(present) > MOST * len(core) and early["p"] < LEVEL), text)


def frequencies_correlate(evidence: Evidence) -> Verdict:
    row = evidence.rank_correlation
    if row.empty or row["rho"].isna().any():
        raise CannotSay("no rank correlation: one sparsity is absent, or keeps all heads equally often")
    rho, p, n = row[["rho", "p", "n"]].iloc[0]
    return Verdict(bool(rho > 0 and p < LEVEL), f"Spearman's rho {rho:.2f} (p = {p:.2g}) over {n:g} heads")


def id_size_is_flat(evidence: Evidence) -> Verdict:
    series = evidence.effective_sizes("id")
    defined = series["effective_size"].dropna()
    if len(defined) < 2:
        raise CannotSay(f"effective size is defined at {len(defined)} checkpoints only: {_series(series)}")
    width = defined.max() - defined.min()
    return Verdict(bool(width <= FLAT), f"range {width:.1f} points; ID by step: {_series(series)}")


def ood_size_jumps(evidence: Evidence) -> Verdict:
    ood, id_ = evidence.effective_sizes("ood"), evidence.effective_sizes("id")
    series = f"OOD by step: {_series(ood)}; ID: {_series(id_)}"
    defined, last = ood["effective_size"].dropna(), ood.index[-1]
    if last not in defined or pd.isna(id_["effective_size"].get(last)):
        raise CannotSay(f"not defined at the last checkpoint; {series}")
    first = defined.index[0]
    undefined = int(_undefined(ood[ood.index < first]).sum())
    text = f"undefined at {undefined} checkpoints before step {first}, where it is {defined[first]:.1f} %; {series}"
    return Verdict(bool(undefined > 0 and defined[last] > id_["effective_size"][last]), text)


def core_serves_generalisation(evidence: Evidence) -> Verdict:
    ablated = evidence.largest_ablation()
    name = ablated["ablation"].iloc[0]
    controls = evidence.ablations[evidence.ablations["matches"] == name]
    if controls.empty:
        raise CannotSay(f"{name} has no controls: too few heads outside the core in its layers")
    ood, id_ = -group_row(ablated, "ood")["change"], -group_row(ablated, "id")["change"]
    random = pd.Series([-group_row(control, "ood")["change"] for _, control in controls.groupby("ablation")])
    # A drop within the margin would leave the model faithful to itself, however small the controls' drops are.
    shown = ood > evidence.context.margin and ood > id_ and ood > random.max()
    text = f"ablating {name} costs {_costs(evidence, ood, id_, ablated)}; {len(random)} matched controls cost"
    return Verdict(bool(shown), f"{text} {random.mean():.1f} OOD on average, {random.max():.1f} at most")


def core_heads_serve_generalisation(evidence: Evidence) -> Verdict:
    singles = evidence.single_ablations()
    others = singles[singles["role"] == "non-core"].groupby("layer")["ood"].agg(["mean", "max"])
    heads = singles[singles["role"] == "core"].join(others, on="layer")
    if heads.empty:
        raise CannotSay("no core head was ablated")
    compared = heads["mean"].notna()
    if not compared.any():
        raise CannotSay("every head in the layers of the core is in the core")
    costlier = int((heads["ood"] - heads["mean"] > evidence.context.margin).sum())
    text = f"{costlier} of {compared.sum()} core heads cost over {evidence.context.margin:g} points OOD more"
    each = "; ".join(_against_layer(evidence, head) for head in heads.itertuples())
    return Verdict(bool(costlier > MOST * compared.sum()), f"{text} than others of their layers on average: {each}")


def core_is_super_additive(evidence: Evidence) -> Verdict:
    ablated = evidence.largest_ablation()
    ood = group_row(ablated, "ood")
    drop, interaction = -ood["change"], ood["interaction"]
    if ood["size"] == 1:
        raise CannotSay(f"the core has one head only, {ood['ablation']}")
    if pd.isna(interaction):
        raise CannotSay(f"single ablations of {ood['ablation']} are missing")
    by_subset = ablated[ablated["subset"].notna() & (ablated["group"] == "ood")]
    by_subset = by_subset.set_index("subset")["interaction"]
    text = (
        f"{ood['ablation']} costs {drop:.1f} points OOD ({_entailment_cost(evidence, ablated)}), "
        f"its heads one by one {drop - interaction:.1f} in sum: "
        f"interaction {interaction:+.1f}, from {by_subset.min():+.1f} ({by_subset.idxmin()}) "
        f"to {by_subset.max():+.1f} ({by_subset.idxmax()})"
    )
    return Verdict(bool(interaction > evidence.context.margin), text)


def _against_chance(null: pd.Series) -> str:
    """For instance "3 heads in all 12 high subnetworks, 0.0016 expected (p = 0.0001)"."""
    shared = f"{null['observed']} heads in all {null['n']} {null['set']} subnetworks"
    return f"{shared}, {null['expected']:.2g} expected (p = {null['p']:.2g})"


def _costs(evidence: Evidence, ood: float, id_: float, ablated: pd.DataFrame) -> str:
    """For instance "12.0 points OOD and 0.5 ID (entailment class 0.1)". ablated: rows of table "ablations"."""
    return f"{ood:z.1f} points OOD and {id_:z.1f} ID ({_entailment_cost(evidence, ablated)})"


def _entailment_cost(evidence: Evidence, ablated: pd.DataFrame) -> str:
    return entailment_class(lambda: f"{evidence.entailment_cost(ablated):z.1f}")


def _against_layer(evidence: Evidence, head) -> str:
    """What ablating a head costs, and what the other heads of its layer do; head: columns ood, id, mean and max."""
    ablated = evidence.ablations[evidence.ablations["ablation"] == head.Index]
    text = f"{head.Index} costs {_costs(evidence, head.ood, head.id, ablated)}"
    if pd.isna(head.mean):
        return f"{text}, its layer has no others"
    return f"{text}, others of its layer {head.mean:z.1f} OOD on average, {head.max:z.1f} at most"


def _undefined(sizes: pd.DataFrame) -> pd.Series:
    """Where effective size is undefined: not for want of subnetworks, but since the full model is at the floor."""
    return sizes["effective_size"].isna() & (sizes["full_accuracy"] <= sizes["margin"])


def _series(sizes: pd.DataFrame) -> str:
    """For instance "600 undefined, 1400 missing, 2200 40.0 (1 at the floor of the grid, 40 %)"."""
    absent = _undefined(sizes).map({True: "undefined", False: "missing"})
    values = sizes["effective_size"].map("{:.1f}".format, na_action="ignore").astype(object).fillna(absent)
    text = ", ".join(f"{step} {value}" for step, value in values.items())
    at_floor = sizes["effective_size"] <= sizes["floor"] + ROUNDING
    return f"{text} ({at_floor.sum()} at the floor of the grid, {sizes['floor'].max():g} %)" if at_floor.any() else text


CLAIMS = [
    (
        f"All high, and all mid and high, subnetworks share more heads than by chance (p < {LEVEL})",
        shared_beyond_chance,
    ),
    (
        f"More than {MOST:.0%} of the core is in every early subnetwork, and these share more heads than by chance",
        core_is_early,
    ),
    (
        f"Head frequencies at mid and high sparsity are positively rank-correlated (p < {LEVEL})",
        frequencies_correlate,
    ),
    (
        f"Effective size on ID stays within {FLAT:g} points over the checkpoints where it is defined",
        id_size_is_flat,
    ),
    (
        "Effective size on OOD is undefined before generalisation and larger than on ID at the last checkpoint",
        ood_size_jumps,
    ),
    (
        "Ablating core heads costs more OOD than ID accuracy, and more than any matched random control and the margin",
        core_serves_generalisation,
    ),
    (
        "Ablating a core head costs more OOD accuracy than ablating another head of its layer: for more than "
        f"{MOST:.0%} of the core, by more than the margin over their mean",
        core_heads_serve_generalisation,
    ),
    (
        "Ablating core heads together costs more OOD accuracy than one by one, by more than the margin",
        core_is_super_additive,
    ),
]
