"""When a subnetwork is faithful to its full model: four criteria.

accuracy    its accuracy is above the full model's minus a margin: strict, one-sided (the paper's);
recovery    its accuracy is at least a share of the full model's;
agreement   it gives the full model's class on at least a share of pairs;
kl          its KL(full || subnetwork) is at most the threshold.

The last two compare what models say, not how often they are right, so that a subnetwork that is right on other pairs
than the full model does not pass for it.
"""

from typing import NamedTuple

import numpy as np

# Accuracies are ratios and their means are sums of floats: equality holds up to rounding only.
ROUNDING = 1e-9


class Criterion(NamedTuple):
    """name: of the four. threshold: percent or points, or nats of kl. column: that it judges, such as "accuracy".

    least: the full model's accuracy, percent, at or below which there is nothing to be faithful to; None: never.
    """

    name: str
    threshold: float
    column: str
    min_full_accuracy: float | None = None

    def slack(self, values: np.ndarray | float, full: float) -> np.ndarray | float:
        """How far subnetworks with these values are within the criterion, in its unit; NaN where a value is.

        full: the full model's accuracy, percent.
        """
        match self.name:
            case "accuracy":
                return values - (full - self.threshold)
            case "recovery":
                return values - self.threshold / 100 * full
            case "agreement":
                return values - self.threshold
            case "kl":
                return self.threshold - values
        raise ValueError(f"no criterion {self.name!r}")

    def full_model_slack(self, full: float) -> float:
        """The same of the full model itself, which agrees with itself on every pair."""
        return self.slack({"accuracy": full, "agreement": 100.0, "kl": 0.0}[self.column], full)

    def is_met(self, slack: np.ndarray) -> np.ndarray:
        """Whether subnetworks with this slack are faithful; never where it is NaN."""
        return slack > ROUNDING if self.name == "accuracy" else slack >= -ROUNDING

    def undefined_reason(self, full: float, low: float = np.nan, unit: str = "%") -> str | None:
        """Why nothing can be faithful to a full model of this accuracy (or J); None if something can.

        low: the lower end of its interval, NaN where unknown.
        """
        if self.min_full_accuracy is None or (full if np.isnan(low) else low) > self.min_full_accuracy + ROUNDING:
            return None
        end = "" if np.isnan(low) else f" (from {low:.1f})"
        return f"the full model at {full:.1f}{end} {unit} is not above the margin of {self.min_full_accuracy:g} points"
