"""Statistics of claims about random masks: counter-heuristic heads, and whether heads differ by subset."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.experiments.heuristic_core.analysis.counter_heads import COUNTER, OPPOSITE, PROFILE
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some

SAID = {
    COUNTER: "{observed:g} heads x subsets are counter-heuristic, {expected:.2g} expected where masks are permuted",
    PROFILE: "variance of a head's effects over subsets {observed:.1f}, {expected:.1f} expected (points squared)",
    OPPOSITE: "{observed:g} heads raise one subset and lower another one",
}


@statistic
def random_masks(evidence: Evidence, test: str) -> Estimate:
    """p of one test of table "mask_tests": counter, profile or opposite, the last of which has no other tail."""
    evidence.sound("mid")
    rows = evidence.table("mask_tests")
    row = some(rows[rows["test"] == test], f"test {test} of random masks").iloc[0]
    if pd.isna(row["p"]):
        raise CannotSay(row["reason"])
    detail = f"{SAID[test].format_map(row)}, p = {row['p']:.2g}"
    opposite = None if pd.isna(row["p_below"]) else row["p_below"]
    return Estimate.test(row["p"], opposite, int(row["masks"]), "random masks", detail)
