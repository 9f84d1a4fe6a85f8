"""The LLC from its chains: value, standard error, and whether the chains can be trusted.

Four checks have bounds in :class:`heuristic_core.experiments.list_sorting.config_llc.Checks`:

local: chains stay within the prior's radius of w0, and well within the norm of w0.
converged: the halves of every chain agree, and the chains agree (split R-hat, Gelman et al. 2013, chapter 11.4).
stable: half the step size, with the same target, gives the same LLC.
level: a linear term of the loss that the estimator keeps is not larger than the LLC. Otherwise the chain measures how
far it slides down the slope at w0, not how the loss curves.

All chains must pass: a mean over the passing chains alone would be selected by their values.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from heuristic_core.experiments.list_sorting.config_llc import Checks

LOCATION_COLUMNS = ("distance", "displacement")
CONVERGENCE_COLUMNS = ("drift", "r_hat", "step_effect")
COLUMNS = (
    "value",
    "standard_error",
    *LOCATION_COLUMNS,
    *CONVERGENCE_COLUMNS,
    "local",
    "converged",
    "stable",
    "level",
    "reason",
)


class Chain(NamedTuple):
    """One chain of one model.

    Attributes:
        values: n_beta times the rise of the loss over w0, [draws].
        distances: Distances from w0, prior radii, [draws].
        norm: Norm of w0, prior radii.
        end_step: Step at which the chain diverged, counted from the start of burn-in.
    """

    values: np.ndarray
    distances: np.ndarray
    norm: float
    end_step: int | None = None

    @property
    def distance(self) -> float:
        """Root mean square distance over draws, prior radii."""
        return math.sqrt(float(np.mean(self.distances**2)))

    @property
    def displacement(self) -> float | None:
        """Distance in norms of w0; None if w0 is zero."""
        return self.distance / self.norm if self.norm > 0 else None

    @property
    def halves(self) -> np.ndarray:
        """Values in two halves, [2, draws // 2]; an odd number of draws loses its first."""
        half = len(self.values) // 2
        return self.values[-2 * half :].reshape(2, half)

    @property
    def drift(self) -> float:
        """Mean of the second half minus mean of the first."""
        first, second = self.halves.mean(axis=1)
        return float(second - first)


def summarise_chains(full: Sequence[Chain], half: Sequence[Chain], checks: Checks, slide: float | None = None) -> dict:
    """Return the value (None if a check fails), its standard error over chains, diagnostics and the reason.

    distance, displacement and drift are those of the worst chain. All columns are None if a chain diverged, `stable`
    and `step_effect` if `half` is empty, `level` if `slide` is None.

    Args:
        full: Chains of one model at the full step size.
        half: Chains at half the step size.
        checks: Bounds of the checks.
        slide: Slide of an estimator that keeps the loss's linear term; None for one that subtracts it.
    """
    columns = dict.fromkeys(COLUMNS) | {
        "chains": len(full),
        "diverged": sum(chain.end_step is not None for chain in full),
    }
    if columns["diverged"]:
        return columns | {"reason": explain_divergence(full, checks)}
    means = np.array([chain.values.mean() for chain in full])
    value, error = float(means.mean()), float(means.std(ddof=1) / math.sqrt(len(means)))
    columns |= _location(full) | _convergence(full)
    half_means = [chain.values.mean() for chain in half if chain.end_step is None]
    columns["step_effect"] = float(np.mean(half_means) - value) if half_means else None
    verdicts = {
        "local": _explain_not_local(columns, checks),
        "converged": _explain_not_converged(columns, value, checks),
        "stable": _explain_unstable(columns, value, half, checks),
        "level": _explain_slope(slide, value, checks),
    }
    columns |= {name: not reason for name, reason in verdicts.items()}
    if not half:
        columns["stable"] = None
    if slide is None:
        columns["level"] = None
    if reasons := [reason for reason in verdicts.values() if reason]:
        return columns | {"reason": "; ".join(reasons)}
    return columns | {"value": value, "standard_error": error}


def chain_rows(full: Sequence[Chain], half: Sequence[Chain]) -> list[dict]:
    """Return a row of diagnostics for each chain.

    Its mean is over all draws, whether or not checks pass, and None if the chain diverged.

    Args:
        full: Chains at the configured step size.
        half: Chains at half the step size.
    """
    rows = []
    for kind, chains in (("full", full), ("half", half)):
        for number, chain in enumerate(chains):
            columns = {"step_size": kind, "chain": number, "ended": chain.end_step}
            columns |= dict.fromkeys(("mean", "drift", "distance", "displacement"))
            if chain.end_step is None:
                columns |= {"mean": float(chain.values.mean()), "drift": chain.drift}
                columns |= {"distance": chain.distance, "displacement": chain.displacement}
            rows.append(columns)
    return rows


def explain_divergence(chains: Sequence[Chain], checks: Checks) -> str:
    """Return why chains ended before their last draw.

    Args:
        chains: All chains of a model.
        checks: Checks that the chains were run with.
    """
    steps = [chain.end_step for chain in chains if chain.end_step is not None]
    if not any(steps):
        return "the loss at w0 is not finite, or varies between batches by more than the chains' bound"
    return (
        f"{len(steps)} of {len(chains)} chains diverged, the first at step {min(steps)}: the loss was not finite or "
        f"rose by more than {checks.largest_rise:g} nats"
    )


def split_r_hat(chains: Sequence[Chain]) -> float | None:
    """Return split R-hat; 1 if nothing varies, None if halves differ and nothing varies within them."""
    halves = np.concatenate([chain.halves for chain in chains])
    count = halves.shape[1]
    within, between = halves.var(axis=1, ddof=1).mean(), halves.mean(axis=1).var(ddof=1)
    if not within > 0:
        return 1.0 if between == 0 else None
    return math.sqrt((count - 1) / count + between / within)


def _location(chains: Sequence[Chain]) -> dict:
    """Return the largest distance and displacement."""
    displacements = [chain.displacement for chain in chains]
    return {
        "distance": max(chain.distance for chain in chains),
        "displacement": None if None in displacements else max(displacements),
    }


def _convergence(chains: Sequence[Chain]) -> dict:
    """Return the largest drift, and split R-hat."""
    drift = max((chain.drift for chain in chains), key=abs)  # in a mean, opposite drifts would cancel
    return {"drift": drift, "r_hat": split_r_hat(chains)}


def _share(difference: float, value: float, checks: Checks) -> float:
    """Return the absolute difference as a share of the LLC, or of `checks.least` if the LLC is smaller."""
    return abs(difference) / max(abs(value), checks.least)


def _explain_not_local(columns: dict, checks: Checks) -> str:
    """Return why chains are not local, or an empty string."""
    if columns["distance"] > checks.largest_distance:
        return (
            f"a chain left w0: {columns['distance']:.3g} radii of the prior away, at most {checks.largest_distance:g} "
            "are local"
        )
    if columns["displacement"] is not None and columns["displacement"] > checks.largest_displacement:
        return (
            f"chains are not local: {columns['displacement']:.3g} norms of w0 away, at most "
            f"{checks.largest_displacement:g} are; raise localisation"
        )
    return ""


def _explain_not_converged(columns: dict, value: float, checks: Checks) -> str:
    """Return why chains have not converged, or an empty string."""
    if (share := _share(columns["drift"], value, checks)) > checks.largest_drift:
        return f"a chain drifts: its halves differ by {share:.2g} of the LLC, at most {checks.largest_drift:g} may be"
    if columns["r_hat"] is None or columns["r_hat"] > checks.largest_r_hat:
        how = "without bound" if columns["r_hat"] is None else f"{columns['r_hat']:.3g}"
        return f"chains disagree: split R-hat {how}, at most {checks.largest_r_hat:g} may be"
    return ""


def _explain_unstable(columns: dict, value: float, half: Sequence[Chain], checks: Checks) -> str:
    """Return why the step size changes the LLC, or an empty string."""
    if any(chain.end_step is not None for chain in half):
        return "a chain at half the step size diverged"
    if half and (share := _share(columns["step_effect"], value, checks)) > checks.largest_step_effect:
        return (
            f"half the step size changes the LLC by {share:.2g} of it, at most {checks.largest_step_effect:g} may be; "
            "lower step_size"
        )
    return ""


def _explain_slope(slide: float | None, value: float, checks: Checks) -> str:
    """Return why the slope at w0 is too large, or an empty string."""
    if slide is not None and (share := _share(slide, value, checks)) > checks.largest_slide:
        return (
            f"w0 is no minimum: its slope takes {share:.2g} times the LLC, at most {checks.largest_slide:g} may be; "
            "tilted subtracts the slope"
        )
    return ""
