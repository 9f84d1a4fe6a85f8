"""Find stages of training by change points of loss, overlap and local learning coefficient, over seeds."""

from heuristic_core.experiments.list_sorting.jobs.stages import find_stages
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(find_stages)

if __name__ == "__main__":
    run_with_record(main)
