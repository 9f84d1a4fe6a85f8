"""Select the mid-sparsity subnetworks whose pruning went well."""

from heuristic_core.experiments.subnetworks.jobs.sound_subnetworks import select_sound_subnetworks
from heuristic_core.jobs.job import job

main = job(select_sound_subnetworks, __name__)
