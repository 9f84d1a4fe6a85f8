"""Evaluate subnetworks between two learned ones."""

from heuristic_core.experiments.heuristic_core.jobs.interpolation import interpolate_subnetworks
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import recorded

main = job(interpolate_subnetworks)

if __name__ == "__main__":
    recorded(main)
