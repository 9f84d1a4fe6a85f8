"""What chains say of an LLC: its value, its error, and whether they are to be trusted.

Three checks, with the bounds of :class:`heuristic_core.experiments.list_sorting.config_llc.Checks`:

local: chains stay within the prior's radius of w0, and well within the norm of w0.
converged: the halves of every chain agree, and the chains agree (split R-hat, Gelman et al. 2013, chapter 11.4).
stable: half the step size, with the same target, gives the same LLC.

All chains must pass. The mean over those that do would be chosen by their values.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from heuristic_core.experiments.list_sorting.config_llc import Checks

WHERE = ("distance", "displacement")
STEADY = ("drift", "r_hat", "step_effect")
COLUMNS = ("value", "standard_error", *WHERE, *STEADY, "local", "converged", "stable", "reason")


class Chain(NamedTuple):
    """One chain of one model.

    values: n_beta times the rise of the loss over w0, [draws]. distances: from w0, prior radii, [draws].
    norm: of w0, prior radii. ended: the step at which the chain diverged, counted from the start of burn-in.
    """

    values: np.ndarray
    distances: np.ndarray
    norm: float
    ended: int | None = None

    @property
    def distance(self) -> float:
        """Root mean square over draws, prior radii."""
        return math.sqrt(float(np.mean(self.distances**2)))

    @property
    def displacement(self) -> float | None:
        """The distance in norms of w0; None where w0 is zero."""
        return self.distance / self.norm if self.norm > 0 else None

    @property
    def halves(self) -> np.ndarray:
        """The values in two halves, [2, draws // 2]; of an odd number without the first."""
        half = len(self.values) // 2
        return self.values[-2 * half :].reshape(2, half)

    @property
    def drift(self) -> float:
        """Mean of the second half less mean of the first."""
        first, second = self.halves.mean(axis=1)
        return float(second - first)


def row(full: Sequence[Chain], half: Sequence[Chain], checks: Checks) -> dict:
    """Value (None where a check fails) with its standard error over chains, diagnostics, and the reason in words.

    full, half: chains of one model at the step size and at half of it. distance, displacement and drift are the worst
    chain's. All are None where a chain diverged, `stable` and `step_effect` where `half` is empty.
    """
    found = dict.fromkeys(COLUMNS) | {"chains": len(full), "diverged": sum(chain.ended is not None for chain in full)}
    if found["diverged"]:
        return found | {"reason": why_ended(full, checks)}
    means = np.array([chain.values.mean() for chain in full])
    value, error = float(means.mean()), float(means.std(ddof=1) / math.sqrt(len(means)))
    found |= _where(full) | _how_steady(full)
    moved = [chain.values.mean() for chain in half if chain.ended is None]
    found["step_effect"] = float(np.mean(moved) - value) if moved else None
    verdicts = {
        "local": _not_local(found, checks),
        "converged": _not_converged(found, value, checks),
        "stable": _not_stable(found, value, half, checks),
    }
    found |= {name: not why for name, why in verdicts.items()}
    if not half:
        found["stable"] = None
    if reasons := [why for why in verdicts.values() if why]:
        return found | {"reason": "; ".join(reasons)}
    return found | {"value": value, "standard_error": error}


def chain_rows(full: Sequence[Chain], half: Sequence[Chain]) -> list[dict]:
    """A row of diagnostics for each chain. mean: of its draws, whatever the checks say; None where it diverged."""
    rows = []
    for kind, chains in (("full", full), ("half", half)):
        for number, chain in enumerate(chains):
            own = {"step_size": kind, "chain": number, "ended": chain.ended}
            own |= dict.fromkeys(("mean", "drift", "distance", "displacement"))
            if chain.ended is None:
                own |= {"mean": float(chain.values.mean()), "drift": chain.drift}
                own |= {"distance": chain.distance, "displacement": chain.displacement}
            rows.append(own)
    return rows


def why_ended(chains: Sequence[Chain], checks: Checks) -> str:
    steps = [chain.ended for chain in chains if chain.ended is not None]
    if not any(steps):
        return "the loss at w0 is not finite, or varies between batches by more than the chains' bound"
    return (
        f"{len(steps)} of {len(chains)} chains diverged, the first at step {min(steps)}: the loss was not finite or "
        f"rose by more than {checks.largest_rise:g} nats"
    )


def split_r_hat(chains: Sequence[Chain]) -> float | None:
    """Split R-hat; 1 where nothing varies, None where halves differ and nothing varies within them."""
    halves = np.concatenate([chain.halves for chain in chains])
    count = halves.shape[1]
    within, between = halves.var(axis=1, ddof=1).mean(), halves.mean(axis=1).var(ddof=1)
    if not within > 0:
        return 1.0 if between == 0 else None
    return math.sqrt((count - 1) / count + between / within)


def _where(chains: Sequence[Chain]) -> dict:
    displacements = [chain.displacement for chain in chains]
    return {
        "distance": max(chain.distance for chain in chains),
        "displacement": None if None in displacements else max(displacements),
    }


def _how_steady(chains: Sequence[Chain]) -> dict:
    drift = max((chain.drift for chain in chains), key=abs)  # in a mean, opposite drifts would cancel
    return {"drift": drift, "r_hat": split_r_hat(chains)}


def _share(difference: float, value: float, checks: Checks) -> float:
    return abs(difference) / max(abs(value), checks.least)


def _not_local(found: dict, checks: Checks) -> str:
    if found["distance"] > checks.largest_distance:
        return (
            f"a chain left w0: {found['distance']:.3g} radii of the prior away, at most {checks.largest_distance:g} "
            "are local"
        )
    if found["displacement"] is not None and found["displacement"] > checks.largest_displacement:
        return (
            f"chains are not local: {found['displacement']:.3g} norms of w0 away, at most "
            f"{checks.largest_displacement:g} are; raise localisation"
        )
    return ""


def _not_converged(found: dict, value: float, checks: Checks) -> str:
    if (share := _share(found["drift"], value, checks)) > checks.largest_drift:
        return f"a chain drifts: its halves differ by {share:.2g} of the LLC, at most {checks.largest_drift:g} may be"
    if found["r_hat"] is None or found["r_hat"] > checks.largest_r_hat:
        how = "without bound" if found["r_hat"] is None else f"{found['r_hat']:.3g}"
        return f"chains disagree: split R-hat {how}, at most {checks.largest_r_hat:g} may be"
    return ""


def _not_stable(found: dict, value: float, half: Sequence[Chain], checks: Checks) -> str:
    if any(chain.ended is not None for chain in half):
        return "a chain at half the step size diverged"
    if half and (share := _share(found["step_effect"], value, checks)) > checks.largest_step_effect:
        return (
            f"half the step size changes the LLC by {share:.2g} of it, at most {checks.largest_step_effect:g} may be; "
            "lower step_size"
        )
    return ""
