"""Average accuracy over groups of subsets."""

from heuristic_core.experiments.subnetworks.jobs.group_accuracy import average_groups
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(average_groups)

if __name__ == "__main__":
    run_with_record(main)
