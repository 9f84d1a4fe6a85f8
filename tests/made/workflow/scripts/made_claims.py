"""Judge claims on the study's tables."""

from heuristic_core.experiments.made.claims import judge_claims

from heuristic_core.jobs.job import job
from heuristic_core.jobs.tables import make_claims_job

main = job(make_claims_job(judge_claims), __name__)
