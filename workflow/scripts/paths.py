"""Measure direct effects of core heads on later heads."""

from heuristic_core.experiments.subnetworks.jobs.paths import patch_paths
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(patch_paths)

if __name__ == "__main__":
    run_with_record(main)
