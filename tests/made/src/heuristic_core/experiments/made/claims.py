"""Claims about squares."""

from heuristic_core.stats.estimates import Estimate, statistic
from heuristic_core.study.claims import Evidence, make_judge


@statistic
def least_square(evidence: Evidence) -> Estimate:
    """Return the lowest square."""
    return Estimate(float(evidence.table("squares")["square"].min()), exact=True)


judge_claims = make_judge(Evidence, {"model": "none", "task": "squares", "ft_seed": None})
