"""Evaluate subnetworks between two learned ones."""

from heuristic_core.experiments.subnetworks.jobs.interpolation import interpolate_subnetworks
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(interpolate_subnetworks)

if __name__ == "__main__":
    run_with_record(main)
