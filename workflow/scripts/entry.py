"""Find when heads enter the subnetworks of one fine-tuning run."""

from heuristic_core.experiments.subnetworks.jobs.entry import find_entries
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(find_entries)

if __name__ == "__main__":
    run_with_record(main)
