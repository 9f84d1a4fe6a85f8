"""Evaluate subnetworks between two learned ones."""

from heuristic_core.experiments.subnetworks.jobs.interpolation import interpolate_subnetworks
from heuristic_core.jobs.job import job

main = job(interpolate_subnetworks, __name__)
