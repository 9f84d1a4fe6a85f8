"""Measure direct effects of core heads on later heads."""

from heuristic_core.experiments.subnetworks.jobs.paths import patch_paths
from heuristic_core.jobs.job import job

main = job(patch_paths, __name__)
