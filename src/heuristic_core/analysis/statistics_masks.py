"""Statistics of claims about masks: do those of different seeds, sparsities and checkpoints keep the same heads."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, Evidence, some


def clustering(evidence: Evidence, set: str) -> Estimate:
    """p that pairs of a set's masks overlap this unevenly, heads swapped; opposite: this evenly."""
    rows = evidence.table("mask_clusters")
    row = some(rows[rows["set"] == set], f"comparison of {set} masks in pairs").iloc[0]
    detail = f"variance of the heads that two share {row['variance']:.2f}, {row['expected']:.2f} expected"
    return Estimate(
        row["p"], None, None, int(row["seeds"]), "pruning seeds", f"{detail}, p = {row['p']:.2g}", True, row["p_below"]
    )


def frequency_within_layers(evidence: Evidence) -> Estimate:
    """p that head frequencies at both sparsities agree this well within layers by chance; opposite: this badly."""
    row = evidence.table("frequency_agreement").iloc[0]
    if pd.isna(row["rho"]):
        raise CannotSay("there are no two halves of the pruning seeds that prefer heads of any layer")
    corrected = "undefined" if pd.isna(row["corrected"]) else f"{row['corrected']:.2f}"
    detail = (
        f"rho within layers {row['rho']:.2f} between halves of {row['seeds']} seeds, corrected for their reliability "
        f"({row['reliability_mid']:.2f} and {row['reliability_high']:.2f}) {corrected}, p = {row['p']:.2g}"
    )
    return Estimate(row["p"], None, None, int(row["n"]), "heads", detail, exact=True, opposite=row["p_below"])


STATISTICS = {f.__name__: f for f in (clustering, frequency_within_layers)}
