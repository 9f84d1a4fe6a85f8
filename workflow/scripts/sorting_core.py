"""Find the effective size of list-sorting models over training, and the halves that all learned subsets keep."""

from heuristic_core.experiments.list_sorting.jobs.core import find_needed_halves
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(find_needed_halves)

if __name__ == "__main__":
    run_with_record(main)
