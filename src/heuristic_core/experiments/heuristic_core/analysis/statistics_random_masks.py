"""Statistics of claims about random masks: whether effects of heads differ between subsets."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.experiments.heuristic_core.analysis.counter_heads import OPPOSITE
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some


@statistic
def opposite_effects(evidence: Evidence) -> Estimate:
    """Return the p of table "mask_tests" that no head raises one OOD subset and lowers another.

    The test has no other tail.
    """
    evidence.sound("mid")
    rows = evidence.table("mask_tests")
    row = some(rows[rows["test"] == OPPOSITE], "test of random masks").iloc[0]
    if pd.isna(row["p"]):
        raise CannotSay(row["reason"])
    detail = f"{row['observed']:g} heads raise one subset and lower another one, p = {row['p']:.2g}"
    return Estimate.test(row["p"], None, int(row["masks"]), "random masks", detail)
