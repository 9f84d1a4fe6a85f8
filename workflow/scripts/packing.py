"""Count the subnetworks that fit into a model side by side."""

from heuristic_core.experiments.subnetworks.jobs.packing import pack_subnetworks
from heuristic_core.jobs.job import job

main = job(pack_subnetworks, __name__)
