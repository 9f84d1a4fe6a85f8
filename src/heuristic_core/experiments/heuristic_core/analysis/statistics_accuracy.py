"""Statistics of claims about accuracy: of the full model, and of the spread."""

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import gammaln
from scipy.stats import rankdata

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.randomisation import PERMUTATIONS, tails
from heuristic_core.analysis.seeds import PRUNING_SEEDS
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.accuracy import interval_of_mean
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some


@statistic
def ood_at_saturation(evidence: Evidence, share: float) -> Estimate:
    """OOD accuracy, percent, at the first evaluation where ID accuracy is at least `share` of its best; bootstrap."""
    evidence.learned()
    rows = evidence.analysed(evidence.table("finetune_accuracy"))
    curve = evidence.over_steps(rows)
    if absent := {"id", "ood"} - set(curve):
        raise CannotSay(f"no {' and no '.join(sorted(absent))} subset was evaluated over fine-tuning")
    curve = some(curve.dropna(subset=["id", "ood"]), "evaluation of the full model over fine-tuning")
    step = curve.index[curve["id"] >= share * curve["id"].max()][0]
    at, ood = curve.loc[step], rows[(rows["step"] == step) & (rows["group"] == "ood")]
    low, high = interval_of_mean(ood)
    entailment = f", entailment class {at['ood-entailment']:.1f} %" if "ood-entailment" in at else ""
    detail = f"at step {step}: ID {at['id']:.1f} % (best {curve['id'].max():.1f}), OOD {at['ood']:.1f} %{entailment}"
    return Estimate(at["ood"], low, high, *_units(ood), detail)


@statistic
def full_accuracy(evidence: Evidence, group: str) -> Estimate:
    """The full model's accuracy on a group (or J, AUC) at the last checkpoint, percent (points); bootstrap interval."""
    evidence.learned()
    row = evidence.full(group)
    n, unit = _units(row.to_frame().T)
    return Estimate(row["accuracy"], row["low"], row["high"], n, unit, f"step {evidence.context.last}")


@statistic
def seed_sd(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Standard deviation (n-1) of a group's accuracy over pruning seeds, points; chi-squared interval."""
    values = evidence.spread("group_accuracy", group, sparsity)["accuracy"].to_numpy()
    n = _several(values)
    sd = values.std(ddof=1)
    low, high = (sd * np.sqrt((n - 1) / stats.chi2.ppf(tail, n - 1)) for tail in (0.975, 0.025))
    return Estimate(sd, low, high, n, PRUNING_SEEDS, f"{group} from {values.min():.1f} to {values.max():.1f} %")


@statistic
def mean_subset_sd(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Standard deviation (n-1) over pruning seeds, points: the mean over the subsets of a group, which vary together.

    Its interval is chi-squared, with Satterthwaite's degrees of freedom for the mean of correlated variances.
    """
    rows = evidence.spread("accuracy", group, sparsity)
    values = rows.pivot(index="seed", columns="subset", values="accuracy").dropna()
    n = _several(values)
    sd = values.std().mean()
    low, high = mean_sd_interval(values.to_numpy())
    width = values.max() - values.min()
    widest = width.idxmax()
    detail = f"widest on {widest}: {values[widest].min():.1f} to {values[widest].max():.1f} %"
    return Estimate(sd, low, high, n, PRUNING_SEEDS, detail)


def mean_sd_interval(values: np.ndarray) -> tuple[float, float]:
    """95 % interval of the mean standard deviation of the columns of `values`, [seeds, subsets]; rows are independent.

    It is a chi-squared interval with Satterthwaite's degrees of freedom: n - 1 where all columns move together, up to
    n - 1 for each column where they do not. The standard deviation of n values is too small by c4(n), and so is a mean
    over many of them.
    """
    n, sds = len(values), values.std(axis=0, ddof=1)
    moving = values[:, sds > 0]
    if not moving.size:
        return 0.0, 0.0
    squared = np.corrcoef(moving, rowvar=False).reshape(moving.shape[1], -1) ** 2
    degrees = (n - 1) * sds.sum() ** 2 / (sds[sds > 0] @ squared @ sds[sds > 0])
    sd = sds.mean() * _c4(degrees) / _c4(n - 1)
    low, high = (float(sd * np.sqrt(degrees / stats.chi2.ppf(tail, degrees))) for tail in (0.975, 0.025))
    return low, high


def _c4(degrees: float) -> float:
    """The expectation of a standard deviation with this many degrees of freedom, of normal values of variance 1."""
    return np.sqrt(2 / degrees) * np.exp(gammaln((degrees + 1) / 2) - gammaln(degrees / 2))


@statistic
def share_of_full(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Mean over pruning seeds of a group's accuracy, in percent of the full model's."""
    full = evidence.full(group)["accuracy"]
    if full == 0:
        raise CannotSay(f"the full model has 0 % on {group}")
    values = 100 * evidence.spread("group_accuracy", group, sparsity)["accuracy"] / full
    detail = f"lowest {values.min():.1f} %, full model {full:.1f} %"
    return Estimate.mean(values, detail)


@statistic
def below_full(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """The full model's accuracy on a group minus subnetworks', points; t interval over pruning seeds."""
    full = evidence.full(group)["accuracy"]
    values = full - evidence.spread("group_accuracy", group, sparsity)["accuracy"]
    detail = f"full model {full:.1f} %; from {values.min():.1f} to {values.max():.1f} points below"
    return Estimate.mean(values, detail)


@statistic
def own_subcases(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """The share of the variance over pruning seeds that is of single subsets, percent: the rest is common to all.

    It is 0 where seeds differ by the same on every subset, and 100 where one subset tells nothing of another: one minus
    the intraclass correlation of subsets (consistency, Shrout and Fleiss 1979), with its F interval. Subsets on which
    all seeds are alike are left out. The variance that evaluation pairs add to an accuracy, by its interval, is taken
    off; as all seeds are evaluated on the same pairs, this is rather too much, and the share rather too small.
    """
    rows = evidence.spread("accuracy", group, sparsity)
    rows = rows.assign(noise=((rows["high"] - rows["low"]) / (2 * stats.norm.ppf(0.975))) ** 2)
    table = rows.pivot(index="seed", columns="subset", values=["accuracy", "noise"])
    values = table["accuracy"].dropna()
    values = values.loc[:, values.std() > 0]
    noise = table["noise"].reindex_like(values).astype(float).fillna(0.0).to_numpy().mean() if values.size else 0.0
    values = values.to_numpy()
    n, subsets = _several(values), values.shape[1]
    if subsets < 2:
        raise CannotSay(f"pruning seeds differ on {subsets} {group} subsets")
    share, low, high = own_share(values, noise)
    detail = f"{subsets} subsets, {n} seeds; common to all subsets {100 - share:.0f} %"
    return Estimate(share, low, high, n, PRUNING_SEEDS, detail)


def own_share(values: np.ndarray, noise: float = 0.0) -> tuple[float, float, float]:
    """The share of :func:`own_subcases` and the ends of its interval, clipped to 0-100.

    values: [seeds, subsets]. noise: the variance of each value that is no difference between seeds.
    """
    seeds, subsets = values.shape
    common = subsets * values.mean(axis=1).var(ddof=1)
    own = (values - values.mean(axis=1, keepdims=True) - values.mean(axis=0)).var() * seeds * subsets
    own /= (seeds - 1) * (subsets - 1)
    degrees = seeds - 1, (seeds - 1) * (subsets - 1)
    factors = 1, stats.f.ppf(0.975, *reversed(degrees)), 1 / stats.f.ppf(0.975, *degrees)
    # Expected: common = subsets * (variance in common) + own, own = (variance of single subsets) + noise.
    in_common = np.array([max(common * factor - own, 0) / subsets for factor in factors])
    own_ends = own * degrees[1] / np.array([degrees[1], *stats.chi2.ppf([0.975, 0.025], degrees[1])])
    single = own - own * np.minimum(noise / np.maximum(own_ends, 1e-12), 1)
    value, low, high = (100 * single / np.maximum(single + in_common, 1e-12)).tolist()
    return value, low, high


@statistic
def spread_mean(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Mean over pruning seeds of a group's accuracy, percent."""
    values = evidence.spread("group_accuracy", group, sparsity)["accuracy"]
    return Estimate.mean(values, f"{group} from {values.min():.1f} to {values.max():.1f} %")


@statistic
def sparsity_correlation(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """p of Spearman's rho between actual sparsity and a group's accuracy over pruning seeds; two-sided, permuted."""
    known = "actual_sparsity" if "actual_sparsity" in evidence.tables else "components"
    actual = evidence.cell(known, sparsity)[["seed", "actual_sparsity"]].drop_duplicates()
    rows = evidence.spread("group_accuracy", group, sparsity).merge(actual, on="seed")
    n = _several(rows["accuracy"])
    if rows["actual_sparsity"].nunique() == 1:
        raise CannotSay(f"all keep the same number of components: {100 * rows['actual_sparsity'].iloc[0]:.1f} % sparse")
    if rows["accuracy"].nunique() == 1:
        raise CannotSay(f"all have the same {group} accuracy, {rows['accuracy'].iloc[0]:.1f} %")
    rank, ranks = rankdata(rows["actual_sparsity"]), rankdata(rows["accuracy"])
    permuted = numpy_generator("sparsity correlation", group).permuted(np.tile(ranks, (PERMUTATIONS, 1)), axis=1)
    rho, drawn = np.corrcoef(rank, ranks)[0, 1], np.array([np.corrcoef(rank, draw)[0, 1] for draw in permuted])
    p, _ = tails(np.abs(drawn), abs(rho))
    between = f"{100 * rows['actual_sparsity'].min():.1f} to {100 * rows['actual_sparsity'].max():.1f} %"
    detail = f"rho {rho:.2f}, actual sparsity {between}, p = {p:.3f}"
    return Estimate.test(p, None, n, PRUNING_SEEDS, detail)


@statistic
def within_over_between(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Standard deviation within seeds, of two runs, over standard deviation between seeds, on a group; F interval."""
    evidence.sound(sparsity)
    rows = evidence.table("variance")
    here = rows["subset"].isna() & (rows["group"] == group) & (rows["sparsity"] == evidence.sparsity(sparsity))
    row = some(rows[here], f"variance on {group}").iloc[0]
    if pd.isna(row["within_sd"]) or row["repeated"] == 0:
        raise CannotSay("no pruning seed ran twice; set grid.repeats")
    between, within, n = row["between_sd"], row["within_sd"], int(row["repeated"])
    detail = f"between seeds {between:.2f} points ({row['seeds']} seeds), within {within:.2f} ({n} ran twice)"
    if not between > 0:
        raise CannotSay(detail)
    ratio, seeds = (within / between) ** 2, int(row["seeds"]) - 1
    low, high = (np.sqrt(ratio / stats.f.ppf(tail, n, seeds)) for tail in (0.975, 0.025))
    return Estimate(np.sqrt(ratio), low, high, n, "seeds that ran twice", detail)


@statistic
def over_control(evidence: Evidence, control: str, group: str, sparsity: str) -> Estimate:
    """Learned minus control subnetworks' accuracy on a group, points; t interval over pruning seeds."""
    evidence.sound(sparsity)
    rows = evidence.table("controls")
    here = (rows["control"] == control) & (rows["sparsity"] == evidence.sparsity(sparsity)) & rows["subset"].isna()
    row = some(rows[here & (rows["group"] == group)], f"{control} subnetworks").iloc[0]
    ends, n = row[["difference_low", "difference_high"]], len(evidence.spread("group_accuracy", group, sparsity))
    return Estimate(row["difference"], *ends, n, PRUNING_SEEDS, f"{control}: {row['accuracy']:.1f} %")


def _units(rows: pd.DataFrame) -> tuple[int | None, str | None]:
    """The number of units that the bootstrap intervals of `rows` are over, and their name; nulls without intervals."""
    if rows["units"].isna().any():
        return None, None
    several = {"pair": "pairs", "pair of one template": "pairs of one template", "template": "templates"}
    units = {unit for units in rows["unit"].unique() for unit in units.split(" or ")}
    return int(rows["units"].sum()), " or ".join(several[unit] for unit in sorted(units))


def _several(values) -> int:
    """How many values there are. Raises CannotSay where they have no spread."""
    if len(values) < 2:
        raise CannotSay(f"only {len(values)} subnetworks")
    return len(values)
