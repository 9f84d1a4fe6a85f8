"""Put two finished studies on one page, with a table of their differences."""

from heuristic_core.experiments.subnetworks.jobs.compare import compare_studies
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(compare_studies)

if __name__ == "__main__":
    run_with_record(main)
