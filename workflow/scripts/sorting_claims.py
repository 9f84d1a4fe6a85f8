"""Judge the claims of the list-sorting experiment on a study's tables."""

from heuristic_core.experiments.list_sorting.claims import judge_claims
from heuristic_core.jobs.job import job
from heuristic_core.jobs.tables import make_claims_job

main = job(make_claims_job(judge_claims), __name__)
