"""List the criteria of faithful subnetworks of a study, see :mod:`heuristic_core.stats.faithful`."""

from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.stats.faithful import Criterion


def list_criteria(analysis: Analysis) -> list[Criterion]:
    """Return all criteria at the thresholds of a study, starting with those that need no predictions.

    Recovery is undefined where the full model's accuracy is within the main margin: there is nothing to recover.
    """
    margins = sorted({analysis.margin, *analysis.margins})
    return [
        *(Criterion("accuracy", margin, "accuracy", min_full_accuracy=margin) for margin in margins),
        *(
            Criterion("recovery", _percent(share), "accuracy", min_full_accuracy=analysis.margin)
            for share in analysis.recovery
        ),
        *(Criterion("agreement", _percent(share), "agreement") for share in analysis.agreement),
        *(Criterion("kl", nats, "kl") for nats in analysis.kl),
    ]


def _percent(share: float) -> float:
    """Convert a share to percent."""
    return round(100 * share, 6)
