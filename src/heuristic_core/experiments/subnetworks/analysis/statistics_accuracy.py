"""Statistics of claims about accuracy, of the full model and over pruning seeds."""

import numpy as np
import pandas as pd
from scipy import stats
from scipy.stats import rankdata

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, LABELS, MIN_VALUES, compute_mean_interval
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.randomisation import PERMUTATIONS, tail_p_values
from heuristic_core.stats.seeds import PRUNING_SEEDS

MIN_SUBNETWORKS = 9  # with fewer at a floor or ceiling, intervals over pruning seeds cover too rarely
MIN_PLATEAU = 3  # evaluations from saturation on; with fewer, a model that is still learning looks saturated


@statistic
def ood_at_saturation(evidence: Evidence, share: float) -> Estimate:
    """Estimate OOD accuracy, percent, once ID accuracy is saturated; bootstrap interval.

    Saturation begins at the first evaluation from which ID accuracy stays at least at `share` of its best. If a model
    is still learning, its last evaluation is its best, so `MIN_PLATEAU` evaluations must qualify.
    """
    evidence.require_learned()
    rows = evidence.select_analysed(evidence.table("finetune_accuracy"))
    curve = evidence.average_by_step(rows)
    if missing := {"id", "ood"} - set(curve):
        raise NotComputable(f"no {' and no '.join(sorted(missing))} subset was evaluated over fine-tuning")
    curve = require_rows(curve.dropna(subset=["id", "ood"]), "evaluation of the full model over fine-tuning")
    below = np.flatnonzero(curve["id"] < evidence.share_of_best(curve["id"], share))
    first = int(below[-1]) + 1 if len(below) else 0
    if (remaining := len(curve) - first) < MIN_PLATEAU:
        raise DoesNotApply(
            f"ID accuracy stays at {100 * share:g} % of its best for {remaining} evaluations, not {MIN_PLATEAU}"
        )
    step = curve.index[first]
    at, ood = curve.loc[step], rows[(rows["step"] == step) & (rows["group"] == "ood")]
    low, high = compute_mean_interval(ood)
    entailment = f", entailment class {at['ood-entailment']:.1f} %" if "ood-entailment" in at else ""
    detail = f"at step {step}: ID {at['id']:.1f} % (best {curve['id'].max():.1f}), OOD {at['ood']:.1f} %{entailment}"
    return Estimate.over_pairs(at["ood"], low, high, *list_interval_units(ood), detail, minimum=0, maximum=100)


@statistic
def full_accuracy(evidence: Evidence, group: str) -> Estimate:
    """Estimate the full model's accuracy on a group at the last checkpoint, percent (J: points); bootstrap interval."""
    evidence.require_learned()
    row = evidence.full(group)
    n, unit = list_interval_units(row.to_frame().T)
    lower_bound = MIN_VALUES.get(row["group"], 0)
    detail = f"{LABELS[row['group']]} at step {evidence.context.last}"
    return Estimate.over_pairs(
        row["accuracy"], row["low"], row["high"], n, unit, detail, minimum=lower_bound, maximum=100
    )


@statistic
def seed_sd(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Estimate the standard deviation (n-1) of a group's accuracy over pruning seeds, points.

    Evaluation on a sample of pairs adds to the deviation, so its variance is subtracted from the square of the lower
    end.
    """
    rows = _require_subnetworks(evidence.spread("group_accuracy", group, sparsity))
    values = rows["accuracy"].to_numpy(dtype=float)
    sd, low, high = compute_sd_interval(values)
    errors = (rows["high"] - rows["low"]).astype(float) / (2 * stats.norm.ppf(0.975))
    low = float(np.sqrt(max(0.0, low**2 - np.nan_to_num((errors**2).mean()))))
    detail = f"{LABELS[evidence.resolve_group(group)]} from {values.min():.1f} to {values.max():.1f}"
    return Estimate(sd, low, high, len(values), PRUNING_SEEDS, detail, minimum=0)


@statistic
def share_of_full(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Estimate the mean accuracy on a group over pruning seeds, in percent of the full model's.

    ID accuracies are taken above chance. The interval ends at the shares of accuracies 0 and 100 (J: -100).
    """
    accuracy = evidence.full(group)["accuracy"]
    full = evidence.above_chance(accuracy) if group == ID else accuracy
    if full <= 0:
        raise DoesNotApply(f"the full model is {full:.1f} points above chance on {group}")
    rows = _require_subnetworks(evidence.spread("group_accuracy", group, sparsity))
    limits = pd.Series([MIN_VALUES.get(evidence.resolve_group(group), 0.0), 100.0])
    values, (minimum, maximum) = (100 * (1 - (accuracy - a) / full) for a in (rows["accuracy"], limits))
    detail = f"lowest {values.min():.1f} %, full model {accuracy:.1f} %"
    detail += f", chance {accuracy - full:.1f} %" if group == ID else ""
    return Estimate.mean(values, detail, _pair_half_width(rows) * 100 / full, minimum, maximum)


@statistic
def below_full(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Estimate the full model's accuracy minus subnetworks', points; interval over pruning seeds and pairs."""
    full = evidence.full(group)["accuracy"]
    rows = _require_subnetworks(evidence.spread("group_accuracy", group, sparsity))
    values = full - rows["accuracy"]
    detail = f"full model {full:.1f} %; from {values.min():.1f} to {values.max():.1f} points below"
    return Estimate.mean(values, detail, _pair_half_width(rows, "change"))


@statistic
def spread_mean(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Estimate the mean accuracy on a group over pruning seeds, percent (J: points).

    The interval is over pruning seeds and pairs.
    """
    rows = _require_subnetworks(evidence.spread("group_accuracy", group, sparsity))
    values = rows["accuracy"]
    detail = f"{LABELS[evidence.resolve_group(group)]} from {values.min():.1f} to {values.max():.1f}"
    return Estimate.mean(
        values, detail, _pair_half_width(rows), minimum=MIN_VALUES.get(evidence.resolve_group(group), 0), maximum=100
    )


@statistic
def sparsity_correlation(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Test Spearman's rho of actual sparsity and a group's accuracy over pruning seeds.

    The test is a two-sided permutation test.
    """
    source = "actual_sparsity" if "actual_sparsity" in evidence.tables else "components"
    actual = evidence.cell(source, sparsity)[["seed", "actual_sparsity"]].drop_duplicates()
    rows = evidence.spread("group_accuracy", group, sparsity).merge(actual, on="seed")
    n = _count_values(rows["accuracy"])
    if rows["actual_sparsity"].nunique() == 1:
        raise DoesNotApply(
            f"all keep the same number of components: {100 * rows['actual_sparsity'].iloc[0]:.1f} % sparse"
        )
    if rows["accuracy"].nunique() == 1:
        raise DoesNotApply(f"all have the same {group} accuracy, {rows['accuracy'].iloc[0]:.1f} %")
    sparsity_ranks, accuracy_ranks = rankdata(rows["actual_sparsity"]), rankdata(rows["accuracy"])
    permuted = numpy_generator("sparsity correlation", group).permuted(
        np.tile(accuracy_ranks, (PERMUTATIONS, 1)), axis=1
    )
    rho, null = (
        np.corrcoef(sparsity_ranks, accuracy_ranks)[0, 1],
        np.array([np.corrcoef(sparsity_ranks, draw)[0, 1] for draw in permuted]),
    )
    p, _ = tail_p_values(np.abs(null), abs(rho))
    between = f"{100 * rows['actual_sparsity'].min():.1f} to {100 * rows['actual_sparsity'].max():.1f} %"
    detail = f"rho {rho:.2f}, actual sparsity {between}, p = {p:.3f}"
    return Estimate.test(p, None, n, PRUNING_SEEDS, detail)


@statistic
def over_control(evidence: Evidence, control: str, group: str, sparsity: str) -> Estimate:
    """Estimate learned minus control subnetworks' accuracy on a group, points; over pruning seeds and pairs."""
    n = len(_require_subnetworks(evidence.spread("group_accuracy", group, sparsity)))
    rows = evidence.table("controls")
    selected = (rows["control"] == control) & (rows["sparsity"] == evidence.sparsity(sparsity)) & rows["subset"].isna()
    row = require_rows(rows[selected & (rows["group"] == group)], f"{control} subnetworks").iloc[0]
    shared = (0.0 if pd.isna(half := row["pair_half_width"]) else float(half),) * 2
    values, detail = row[["difference", "difference_low", "difference_high"]], f"{control}: {row['accuracy']:.1f} %"
    detail += f"; faulty runs left out: {row['left_out']}" if pd.notna(row["left_out"]) and row["left_out"] else ""
    return Estimate(*values, n, PRUNING_SEEDS, detail, shared_half_widths=shared)


def compute_sd_interval(values: np.ndarray) -> tuple[float, float, float]:
    """Compute a standard deviation and its 95 % interval.

    Accuracies that accumulate at a floor or a ceiling have heavy tails, and their standard deviation varies more than
    that of normal values. The chi-squared interval therefore has fewer degrees of freedom, estimated from the kurtosis
    about a trimmed mean (Bonett 2006).

    Args:
        values: At least two values.

    Returns:
        Standard deviation (n-1), lower end, upper end.
    """
    n, sd = len(values), float(values.std(ddof=1))
    if np.ptp(values) == 0:
        return 0.0, 0.0, 0.0
    centre = stats.trim_mean(values, min(0.25, 0.5 / np.sqrt(max(n - 4, 1))))
    kurtosis = n * ((values - centre) ** 4).sum() / ((n - 1) * sd**2) ** 2
    degrees = min(n - 1, max(1, 2 * (n - 1) / (kurtosis - (n - 3) / n)))
    low, high = (sd * np.sqrt(degrees / stats.chi2.ppf(tail, degrees)) for tail in (0.975, 0.025))
    return sd, low, high


def _require_subnetworks(rows: pd.DataFrame) -> pd.DataFrame:
    """Return `rows`, one per subnetwork.

    Raises:
        TooFewUnits: If there are fewer than `MIN_SUBNETWORKS`.
    """
    if len(rows) < MIN_SUBNETWORKS:
        raise TooFewUnits(f"{len(rows)} sound subnetworks, and an interval over them needs {MIN_SUBNETWORKS}")
    return rows


def _pair_half_width(rows: pd.DataFrame, prefix: str = "") -> float:
    """Return half the width of intervals over pairs, averaged over subnetworks; 0 without intervals.

    All subnetworks are evaluated on the same pairs, so averaging over subnetworks does not reduce this error.
    The prefix "change" selects the paired change from the full model.
    """
    low, high = (f"{prefix}_low", f"{prefix}_high") if prefix else ("low", "high")
    half = (rows[high] - rows[low]).astype(float).mean() / 2
    return 0.0 if pd.isna(half) else float(half)


def list_interval_units(rows: pd.DataFrame) -> tuple[int | None, str | None]:
    """Return the number and the name of the units of bootstrap intervals of `rows`; nulls without intervals."""
    if rows["units"].isna().any():
        return None, None
    plurals = {"pair": "pairs", "pair of one template": "pairs of one template", "template": "templates"}
    units = {unit for units in rows["unit"].unique() for unit in units.split(" or ")}
    return int(rows["units"].sum()), " or ".join(plurals[unit] for unit in sorted(units))


def _count_values(values) -> int:
    """Count values. Raises TooFewUnits if there are too few for a spread."""
    if len(values) < 2:
        raise TooFewUnits(f"only {len(values)} subnetworks")
    return len(values)
