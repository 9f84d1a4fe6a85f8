"""Judge claims on a study's tables."""

from heuristic_core.experiments.subnetworks.jobs.claims import judge_claims
from heuristic_core.jobs.job import job

main = job(judge_claims, __name__)
