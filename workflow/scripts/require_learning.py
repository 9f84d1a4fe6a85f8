"""Fail where the full model has not learned the task."""

from heuristic_core.experiments.subnetworks.jobs.chance import require_learning
from heuristic_core.jobs.job import job

main = job(require_learning, __name__)
