"""Compare learned subnetworks with random and gradient-importance ones."""

from heuristic_core.experiments.subnetworks.jobs.compare_controls import compare_with_controls
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(compare_with_controls)

if __name__ == "__main__":
    run_with_record(main)
