"""Compare the full model's in-domain accuracy with chance."""

from heuristic_core.experiments.subnetworks.jobs.chance import compare_with_chance
from heuristic_core.jobs.job import job

main = job(compare_with_chance, __name__)
