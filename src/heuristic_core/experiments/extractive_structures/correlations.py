"""Correlations over seeds.

Means and intervals are computed on Fisher's z scale, so that signs count and intervals stay between -1 and 1. A
correlation is of all components of one model and has no error of its own; only models vary.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from heuristic_core.stats.estimates import Estimate, TooFewUnits
from heuristic_core.stats.training_seeds import LOWEST, extreme_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_ABS_R = 1 - 1e-6  # a correlation of 1 has no finite z


def to_z(r: "ArrayLike") -> np.ndarray:
    """Return Fisher's z of correlations."""
    return np.arctanh(np.clip(np.asarray(r, dtype=float), -MAX_ABS_R, MAX_ABS_R))


def lowest_correlation(groups: Mapping[str, pd.Series], what: str) -> Estimate:
    """Estimate the lowest mean correlation over seeds among several groups, such as hops.

    Args:
        groups: The correlations of each group, one for each seed.
        what: Name of the correlation, at the beginning of the detail.

    Raises:
        NotComputable: If a group has no value.
        TooFewUnits: If a correlation is 1 or -1.
    """
    if perfect := [name for name, values in groups.items() if (values.abs() >= MAX_ABS_R).any()]:
        raise TooFewUnits(f"{what}: 1 or -1 on a seed ({', '.join(filter(None, perfect)) or 'all components'})")
    z = {name: to_z(values) for name, values in groups.items()}
    estimate = extreme_mean(
        z, LOWEST, f"{what}: {', '.join(_describe(name, values) for name, values in groups.items())}"
    )
    return replace(estimate, **{field: _from_z(getattr(estimate, field)) for field in ("value", "low", "high")})


def _describe(name: str, values: pd.Series) -> str:
    """Return a text such as "first hop 0.29, negative on 3 of 5 seeds"."""
    finite = values.dropna()
    mean = f"{name} {np.tanh(to_z(finite).mean()):.3g}".strip() if len(finite) else f"{name} unknown"
    negative = int((finite < 0).sum())
    return f"{mean}, negative on {negative} of {len(finite)} seeds" if negative > 0 else mean


def _from_z(z: float | None) -> float | None:
    return None if z is None else float(np.tanh(z))
