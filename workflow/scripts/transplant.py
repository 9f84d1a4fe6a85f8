"""Give subnetworks the weights of other checkpoints."""

from heuristic_core.experiments.subnetworks.jobs.transplant import transplant_subnetworks
from heuristic_core.jobs.job import job

main = job(transplant_subnetworks, __name__)
