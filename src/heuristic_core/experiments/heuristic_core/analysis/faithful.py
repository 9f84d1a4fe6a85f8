"""The criteria of faithful subnetworks that a study asks for, see :mod:`heuristic_core.analysis.faithful`."""

from heuristic_core.analysis.faithful import Criterion
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis


def criteria(analysis: Analysis) -> list[Criterion]:
    """All criteria at the thresholds of a study; criteria that need no predictions are the first.

    Recovery is undefined where accuracy is at the main margin: any subnetwork recovers nothing.
    """
    margins = sorted({analysis.margin, *analysis.margins})
    return [
        *(Criterion("accuracy", margin, "accuracy", least=margin) for margin in margins),
        *(Criterion("recovery", _percent(share), "accuracy", least=analysis.margin) for share in analysis.recovery),
        *(Criterion("agreement", _percent(share), "agreement") for share in analysis.agreement),
        *(Criterion("kl", nats, "kl") for nats in analysis.kl),
    ]


def _percent(share: float) -> float:
    return round(100 * share, 6)
