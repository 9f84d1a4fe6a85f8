"""Count the subnetworks with each component."""

from heuristic_core.experiments.subnetworks.jobs.head_frequency import measure_head_frequency
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(measure_head_frequency)

if __name__ == "__main__":
    run_with_record(main)
