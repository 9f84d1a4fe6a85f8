"""Statistics of claims about accuracy: of the full model, and of the spread."""

import numpy as np
import pandas as pd
from scipy import stats
from scipy.stats import rankdata

from heuristic_core.analysis.estimates import CannotSay, DoesNotApply, Estimate, TooFew, statistic
from heuristic_core.analysis.randomisation import PERMUTATIONS, tails
from heuristic_core.analysis.seeds import PRUNING_SEEDS
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.accuracy import ID, LABELS, LEAST, interval_of_mean
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some

FEWEST = 5  # subnetworks; of fewer at a floor or ceiling intervals of a standard deviation hold too seldom
PLATEAU = 3  # evaluations from saturation on; with fewer a model that still learns looks saturated at its best


@statistic
def ood_at_saturation(evidence: Evidence, share: float) -> Estimate:
    """OOD accuracy, percent, at the first evaluation from which on ID accuracy stays at `share` of its best; bootstrap.

    The last evaluation of a model that still learns is its best. So `PLATEAU` evaluations must be as good as that.
    """
    evidence.learned()
    rows = evidence.analysed(evidence.table("finetune_accuracy"))
    curve = evidence.over_steps(rows)
    if absent := {"id", "ood"} - set(curve):
        raise CannotSay(f"no {' and no '.join(sorted(absent))} subset was evaluated over fine-tuning")
    curve = some(curve.dropna(subset=["id", "ood"]), "evaluation of the full model over fine-tuning")
    below = np.flatnonzero(curve["id"] < evidence.share_of_best(curve["id"], share))
    first = int(below[-1]) + 1 if len(below) else 0
    if (left := len(curve) - first) < PLATEAU:
        raise DoesNotApply(f"ID accuracy stays at {100 * share:g} % of its best for {left} evaluations, not {PLATEAU}")
    step = curve.index[first]
    at, ood = curve.loc[step], rows[(rows["step"] == step) & (rows["group"] == "ood")]
    low, high = interval_of_mean(ood)
    entailment = f", entailment class {at['ood-entailment']:.1f} %" if "ood-entailment" in at else ""
    detail = f"at step {step}: ID {at['id']:.1f} % (best {curve['id'].max():.1f}), OOD {at['ood']:.1f} %{entailment}"
    return Estimate(at["ood"], low, high, *_units(ood), detail, least=0, most=100)


@statistic
def full_accuracy(evidence: Evidence, group: str) -> Estimate:
    """The full model's accuracy on a group (or J, AUC) at the last checkpoint, percent (points); bootstrap interval."""
    evidence.learned()
    row = evidence.full(group)
    n, unit = _units(row.to_frame().T)
    least = LEAST.get(row["group"], 0)
    detail = f"{LABELS[row['group']]} at step {evidence.context.last}"
    return Estimate(row["accuracy"], row["low"], row["high"], n, unit, detail, least=least, most=100)


@statistic
def seed_sd(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Standard deviation (n-1) of a group's accuracy over pruning seeds, points; interval of :func:`sd_interval`."""
    values = evidence.spread("group_accuracy", group, sparsity)["accuracy"].to_numpy(dtype=float)
    if (n := len(values)) < FEWEST:
        raise TooFew(f"{n} subnetworks, and their standard deviation needs {FEWEST}")
    sd, low, high = sd_interval(values)
    detail = f"{LABELS[evidence.measured(group)]} from {values.min():.1f} to {values.max():.1f}"
    return Estimate(sd, low, high, n, PRUNING_SEEDS, detail, least=0)


@statistic
def share_of_full(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Mean over pruning seeds of a group's accuracy, in percent of the full model's; of ID accuracy, above chance."""
    accuracy = evidence.full(group)["accuracy"]
    full = evidence.above_chance(accuracy) if group == ID else accuracy
    if full <= 0:
        raise DoesNotApply(f"the full model is {full:.1f} points above chance on {group}")
    rows = evidence.spread("group_accuracy", group, sparsity)
    values = 100 * (1 - (accuracy - rows["accuracy"]) / full)
    detail = f"lowest {values.min():.1f} %, full model {accuracy:.1f} %"
    detail += f", chance {accuracy - full:.1f} %" if group == ID else ""
    return Estimate.mean(values, detail, _of_pairs(rows) * 100 / full)


@statistic
def below_full(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """The full model's accuracy on a group minus subnetworks', points; interval over pruning seeds and pairs."""
    full = evidence.full(group)["accuracy"]
    rows = evidence.spread("group_accuracy", group, sparsity)
    values = full - rows["accuracy"]
    detail = f"full model {full:.1f} %; from {values.min():.1f} to {values.max():.1f} points below"
    return Estimate.mean(values, detail, _of_pairs(rows, "change"))


@statistic
def spread_mean(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Mean over pruning seeds of a group's accuracy (or J), percent (points); interval over pruning seeds and pairs."""
    rows = evidence.spread("group_accuracy", group, sparsity)
    values = rows["accuracy"]
    detail = f"{LABELS[evidence.measured(group)]} from {values.min():.1f} to {values.max():.1f}"
    return Estimate.mean(values, detail, _of_pairs(rows), least=LEAST.get(evidence.measured(group), 0), most=100)


@statistic
def sparsity_correlation(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """p of Spearman's rho between actual sparsity and a group's accuracy over pruning seeds; two-sided, permuted."""
    known = "actual_sparsity" if "actual_sparsity" in evidence.tables else "components"
    actual = evidence.cell(known, sparsity)[["seed", "actual_sparsity"]].drop_duplicates()
    rows = evidence.spread("group_accuracy", group, sparsity).merge(actual, on="seed")
    n = _several(rows["accuracy"])
    if rows["actual_sparsity"].nunique() == 1:
        raise DoesNotApply(
            f"all keep the same number of components: {100 * rows['actual_sparsity'].iloc[0]:.1f} % sparse"
        )
    if rows["accuracy"].nunique() == 1:
        raise DoesNotApply(f"all have the same {group} accuracy, {rows['accuracy'].iloc[0]:.1f} %")
    rank, ranks = rankdata(rows["actual_sparsity"]), rankdata(rows["accuracy"])
    permuted = numpy_generator("sparsity correlation", group).permuted(np.tile(ranks, (PERMUTATIONS, 1)), axis=1)
    rho, drawn = np.corrcoef(rank, ranks)[0, 1], np.array([np.corrcoef(rank, draw)[0, 1] for draw in permuted])
    p, _ = tails(np.abs(drawn), abs(rho))
    between = f"{100 * rows['actual_sparsity'].min():.1f} to {100 * rows['actual_sparsity'].max():.1f} %"
    detail = f"rho {rho:.2f}, actual sparsity {between}, p = {p:.3f}"
    return Estimate.test(p, None, n, PRUNING_SEEDS, detail)


@statistic
def over_control(evidence: Evidence, control: str, group: str, sparsity: str) -> Estimate:
    """Learned minus control subnetworks' accuracy on a group, points; t interval over pruning seeds."""
    evidence.sound(sparsity)
    rows = evidence.table("controls")
    here = (rows["control"] == control) & (rows["sparsity"] == evidence.sparsity(sparsity)) & rows["subset"].isna()
    row = some(rows[here & (rows["group"] == group)], f"{control} subnetworks").iloc[0]
    ends, n = row[["difference_low", "difference_high"]], len(evidence.spread("group_accuracy", group, sparsity))
    return Estimate(row["difference"], *ends, n, PRUNING_SEEDS, f"{control}: {row['accuracy']:.1f} %")


def sd_interval(values: np.ndarray) -> tuple[float, float, float]:
    """The standard deviation (n-1) of at least two values, and the ends of its chi-squared 95 % interval.

    Accuracies that heap at a floor or a ceiling have heavy tails, and their standard deviation varies more than that of
    normal values: it has fewer degrees of freedom, by the kurtosis about a trimmed mean (Bonett 2006).
    """
    n, sd = len(values), float(values.std(ddof=1))
    if np.ptp(values) == 0:
        return 0.0, 0.0, 0.0
    centre = stats.trim_mean(values, min(0.25, 0.5 / np.sqrt(max(n - 4, 1))))
    kurtosis = n * ((values - centre) ** 4).sum() / ((n - 1) * sd**2) ** 2
    degrees = min(n - 1, max(1, 2 * (n - 1) / (kurtosis - (n - 3) / n)))
    low, high = (sd * np.sqrt(degrees / stats.chi2.ppf(tail, degrees)) for tail in (0.975, 0.025))
    return sd, low, high


def _of_pairs(rows: pd.DataFrame, of: str = "") -> float:
    """Half the width of the intervals over pairs, mean over subnetworks; 0 where there is none.

    All subnetworks are evaluated on the same pairs, whose errors their mean does not average out. of: "change" of the
    change from the full model, which is paired.
    """
    low, high = (f"{of}_low", f"{of}_high") if of else ("low", "high")
    half = (rows[high] - rows[low]).astype(float).mean() / 2
    return 0.0 if pd.isna(half) else float(half)


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
        raise TooFew(f"only {len(values)} subnetworks")
    return len(values)
