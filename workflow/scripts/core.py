"""Find the heads that all subnetworks of one fine-tuning run share."""

from heuristic_core.experiments.subnetworks.jobs.core import find_core
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(find_core)

if __name__ == "__main__":
    run_with_record(main)
