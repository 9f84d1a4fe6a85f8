"""Correlations over seeds. Means and intervals are of Fisher's z, so that signs count and no end is beyond -1 and 1."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from heuristic_core.analysis.estimates import Estimate
from heuristic_core.analysis.training_seeds import LOWEST, extreme

LARGEST = 1 - 1e-6  # a correlation of 1 has no finite z


def to_z(r) -> np.ndarray:
    """Fisher's z of correlations."""
    return np.arctanh(np.clip(np.asarray(r, dtype=float), -LARGEST, LARGEST))


def lowest_correlation(groups: Mapping[str, pd.Series], what: str) -> Estimate:
    """The lowest mean over seeds of the correlations of several groups, such as hops, with its interval.

    groups: a correlation for each seed, by group. Raises CannotSay without a value.
    """
    z = {name: to_z(values) for name, values in groups.items()}
    found = extreme(z, LOWEST, f"{what}: {', '.join(_told(name, values) for name, values in groups.items())}")
    return replace(found, **{end: _from_z(getattr(found, end)) for end in ("value", "low", "high")})


def _told(name: str, values: pd.Series) -> str:
    """Such as "first hop 0.29, negative on 3 of 5 seeds"."""
    known = values.dropna()
    mean = f"{name} {np.tanh(to_z(known).mean()):.3g}".strip() if len(known) else f"{name} unknown"
    below = int((known < 0).sum())
    return f"{mean}, negative on {below} of {len(known)} seeds" if below > 0 else mean


def _from_z(z: float | None) -> float | None:
    return None if z is None else float(np.tanh(z))
