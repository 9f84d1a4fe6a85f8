"""Sample the local learning coefficient of the models of one condition at one checkpoint."""

from heuristic_core.experiments.list_sorting.jobs.llc import sample_llc
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(sample_llc)

if __name__ == "__main__":
    run_with_record(main)
