"""Statistics of claims about effective size: how many components generalising takes, over fine-tuning.

A size at the floor of the grid may be anything from 0 to that floor. Intervals of sizes reach from the least to the
most that these sizes allow; estimates take the floor itself.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.randomisation import tails
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.accuracy import ID, OOD
from heuristic_core.experiments.heuristic_core.analysis.effective_size import UNDEFINED, of_study, state
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some

BOTH = "mixed-1:1"
SURROGATES = 10_000
FEWEST = 6  # checkpoints; the spectrum of fewer has one phase or none to draw


@statistic
def size_range(evidence: Evidence, group: str) -> Estimate:
    """The range of effective size over the checkpoints where it is defined, points; t interval over pruning seeds.

    Noise widens the range of a seed's sizes. So the range is rather too large: it speaks against a flat size.
    """
    sizes = _sizes(evidence, group)
    by_seed = _by_seed(sizes).dropna(how="all")
    if len(by_seed) < 2:
        raise CannotSay(f"effective size on {group} is defined at {len(by_seed)} checkpoints: {_series(sizes)}")
    least, most = _ends(sizes)
    widths = (by_seed.max() - by_seed.min()).dropna()
    ends = (least.max() - most.min()).clip(lower=0), most.max() - least.min()
    return _bounded(widths, *ends, f"by step: {_series(sizes)}")


@statistic
def size_gap(evidence: Evidence) -> Estimate:
    """Effective size on OOD minus effective size on ID, points, at the first checkpoint with a size on OOD."""
    ood, id_ = _sizes(evidence, OOD), _sizes(evidence, ID)
    _, step = _onset(ood)
    gap = (_by_seed(ood) - _by_seed(id_)).reindex([step]).iloc[0].dropna()
    if gap.empty:
        raise CannotSay(f"effective size on ID is not defined at step {step}")
    ends = [(one - other).loc[step] for one, other in zip(_ends(ood), reversed(_ends(id_)), strict=True)]
    return _bounded(gap, *ends, f"at step {step}; OOD: {_series(ood)}; ID: {_series(id_)}")


@statistic
def size_jump(evidence: Evidence) -> Estimate:
    """Growth of effective size on ID and OOD together (1:1) minus its growth on ID as OOD begins to rise, points.

    Growth is from the last checkpoint without an effective size on OOD, where there is nothing to be faithful to, to
    the first checkpoint with one. Sizes on OOD alone have no such growth: they begin there.
    """
    both, id_ = _sizes(evidence, BOTH), _sizes(evidence, ID)
    before, step = _onset(_sizes(evidence, OOD))
    if before is None:
        raise CannotSay(f"effective size on OOD is defined from the first checkpoint on, step {step}")
    growth = _growth(_by_seed(both), _by_seed(both), before, step) - _growth(_by_seed(id_), _by_seed(id_), before, step)
    growth = growth.dropna()
    if growth.empty:
        raise CannotSay(
            f"effective size on ID, and on ID and OOD together, is not defined at steps {before} and {step}"
        )
    of_both, of_id = _ends(both), _ends(id_)
    ends = [
        _growth(of_both[k], of_both[1 - k], before, step) - _growth(of_id[1 - k], of_id[k], before, step)
        for k in (0, 1)
    ]
    detail = f"from step {before} to {step}; ID and OOD 1:1: {_series(both)}; ID: {_series(id_)}"
    return _bounded(growth, *ends, detail)


@statistic
def size_against_ood(evidence: Evidence) -> Estimate:
    """p that effective size on OOD falls as much as OOD accuracy of the full model rises: Spearman's rho, one-sided.

    The series are over the checkpoints where the size is defined. A checkpoint is like the checkpoint before it. So
    sizes are not permuted: the null hypothesis is sizes with the same spectrum, and so the same autocorrelation, at
    random phases (Theiler et al. 1992). The test assumes that the series are stationary but for their relation. Two
    quantities that drift apart over fine-tuning for reasons of their own are correlated, too.
    """
    sizes = _sizes(evidence, OOD)
    rows = _means(sizes).dropna(subset="effective_size")
    if len(rows) < FEWEST:
        raise CannotSay(f"effective size on OOD is defined at {len(rows)} checkpoints, {FEWEST} are needed")
    accuracy, size = rows["full_accuracy"].to_numpy(), rows["effective_size"].to_numpy()
    if np.ptp(size) == 0 or np.ptp(accuracy) == 0:
        raise CannotSay(f"neither may be the same at all checkpoints: {_series(sizes)}")
    rho, p, opposite = falling(accuracy, size, numpy_generator("size against OOD"))
    detail = f"rho {rho:.2f} from step {rows['step'].iloc[0]} on, p = {p:.3f}; by step: {_series(sizes)}"
    return Estimate.test(p, opposite, len(rows), "checkpoints", detail)


def falling(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> tuple[float, float, float]:
    """Spearman's rho of two series, [n] each, and the shares of surrogates of `y` whose rho is as low, and as high."""
    ranks = rankdata(x)
    rho = np.corrcoef(ranks, rankdata(y))[0, 1]
    surrogates = rankdata(_random_phases(y, rng), axis=1)
    centred = surrogates - surrogates.mean(axis=1, keepdims=True)
    drawn = centred @ (ranks - ranks.mean()) / (np.linalg.norm(centred, axis=1) * np.linalg.norm(ranks - ranks.mean()))
    higher, lower = tails(drawn, rho)
    return rho, lower, higher


def _random_phases(series: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Series with the amplitudes of `series` at every frequency, and phases at random, [SURROGATES, n]."""
    n, amplitudes = len(series), np.abs(np.fft.rfft(series - series.mean()))
    turned = amplitudes * np.exp(1j * rng.uniform(0, 2 * np.pi, (SURROGATES, len(amplitudes))))
    if n % 2 == 0:  # the highest frequency has a sign, no phase
        turned[:, -1] = amplitudes[-1] * rng.choice([-1, 1], SURROGATES)
    return np.fft.irfft(turned, n, axis=1)


@statistic
def undefined_sizes(evidence: Evidence, group: str) -> Estimate:
    """The number of checkpoints without an effective size on a group, as the full model is not above the margin."""
    sizes = _means(_sizes(evidence, group))
    undefined = sizes[state(sizes) == UNDEFINED]
    steps = ", ".join(f"{row.step} (full model {row.full_accuracy:.1f} %)" for row in undefined.itertuples())
    detail = f"at steps {steps}" if steps else "nowhere"
    return Estimate(len(undefined), None, None, len(sizes), "checkpoints", detail, exact=True)


def _sizes(evidence: Evidence, group: str) -> pd.DataFrame:
    """Effective sizes on a group by accuracy at the study's margin, in the study's order."""
    evidence.sound("sizes")
    rows = of_study(evidence.table("effective_size"), evidence.context)
    return some(rows[rows["group"] == group], f"effective size on {group}")


def _means(sizes: pd.DataFrame) -> pd.DataFrame:
    """The rows over pruning seeds, in the order of steps."""
    return sizes[sizes["seed"].isna()].sort_values("step", kind="stable")


def _by_seed(sizes: pd.DataFrame) -> pd.DataFrame:
    """Sizes by [step, pruning seed]; in an order without sizes of seeds, by [step, 1]: one value has no interval."""
    of_seeds = sizes[sizes["seed"].notna()]
    if of_seeds.empty:
        return _means(sizes).set_index("step")[["effective_size"]]
    return of_seeds.pivot(index="step", columns="seed", values="effective_size").sort_index()


def _ends(sizes: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The least and the most that each size by [step, pruning seed] may be."""
    at_floor = sizes["effective_size"] <= sizes["floor"]
    return _by_seed(sizes.assign(effective_size=sizes["effective_size"].mask(at_floor, 0.0))), _by_seed(sizes)


def _growth(later: pd.DataFrame, earlier: pd.DataFrame, before: int, step: int) -> pd.Series:
    """Size at `step`, of the first table, minus size at `before`, of the second: by pruning seed."""
    return later.reindex([step]).iloc[0] - earlier.reindex([before]).iloc[0]


def _bounded(values: pd.Series, least: pd.Series, most: pd.Series, detail: str) -> Estimate:
    """The mean over pruning seeds, with a t interval that holds for all values from `least` to `most`."""
    low, high = (Estimate.mean(ends[values.index], detail) for ends in (least, most))
    return replace(Estimate.mean(values, detail), low=low.low, high=high.high)


def _onset(ood: pd.DataFrame) -> tuple[int | None, int]:
    """The last step at which effective size on OOD is undefined, None without one, and the first step with a size."""
    means = _means(ood)
    defined = some(means[means["effective_size"].notna()], "effective size on OOD at any checkpoint")
    step = int(defined["step"].iloc[0])
    before = means[(state(means) == UNDEFINED) & (means["step"] < step)]["step"]
    return (int(before.iloc[-1]) if len(before) else None), step


def _series(sizes: pd.DataFrame) -> str:
    """For instance "500 undefined, 12500 96.7"."""
    means = _means(sizes)
    texts = means["effective_size"].map("{:.1f}".format, na_action="ignore").astype(object).fillna(state(means))
    return ", ".join(f"{step} {text}" for step, text in zip(means["step"], texts, strict=True))
