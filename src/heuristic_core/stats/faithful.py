"""Four criteria of whether a subnetwork is faithful to its full model.

accuracy    accuracy is above the full model's minus a margin: strict, one-sided (the paper's criterion);
recovery    accuracy is at least a share of the full model's;
agreement   the predicted class is the full model's on at least a share of pairs;
kl          KL(full || subnetwork) is at most the threshold.

The last two compare predictions instead of accuracies: a subnetwork that is as accurate as the full model, but right on
other pairs, does not pass them.
"""

from typing import NamedTuple

import numpy as np

from heuristic_core.common.errors import format_points

# Accuracies are means of floats, so thresholds are compared up to rounding.
ROUNDING = 1e-9


class Criterion(NamedTuple):
    """A criterion of faithfulness.

    Attributes:
        name: "accuracy", "recovery", "agreement" or "kl".
        threshold: Points for "accuracy", percent for "recovery" and "agreement", nats for "kl".
        column: Column that the criterion is applied to, such as "accuracy".
        min_full_accuracy: Accuracy of the full model, percent, at or below which no subnetwork can be faithful; None if
            there is no such limit.
    """

    name: str
    threshold: float
    column: str
    min_full_accuracy: float | None = None

    def slack(self, values: np.ndarray | float, full: float) -> np.ndarray | float:
        """Compute how far subnetworks are within the criterion.

        Args:
            values: Value of `column` for each subnetwork.
            full: Accuracy of the full model, percent.

        Returns:
            Distance to the threshold in the unit of the values, positive within it. NaN where the value is NaN.

        Raises:
            ValueError: If `name` is not that of a criterion.
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
        """Compute the slack of the full model, which agrees with itself on every pair, from its accuracy in percent."""
        return self.slack({"accuracy": full, "agreement": 100.0, "kl": 0.0}[self.column], full)

    def is_met(self, slack: np.ndarray) -> np.ndarray:
        """Return whether subnetworks with this slack are faithful; False where the slack is NaN."""
        return slack > ROUNDING if self.name == "accuracy" else slack >= -ROUNDING

    def undefined_reason(self, full: float, low: float = np.nan, unit: str = "%") -> str | None:
        """Return why no subnetwork can be faithful to a full model, or None if one can.

        Args:
            full: Accuracy or J of the full model, percent or points.
            low: Lower end of its interval, which is compared instead of `full`; NaN if unknown.
            unit: Unit of `full` in the message.
        """
        if self.min_full_accuracy is None or (full if np.isnan(low) else low) > self.min_full_accuracy + ROUNDING:
            return None
        end = "" if np.isnan(low) else f" (from {low:z.1f})"
        margin = format_points(self.min_full_accuracy)
        return f"the full model at {full:z.1f}{end} {unit} is not above the margin of {margin}"
