"""Import the authors' published results of one task as tables of a study."""

from heuristic_core.experiments.subnetworks.jobs.published import import_results
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(import_results)

if __name__ == "__main__":
    run_with_record(main)
