"""Compare the full model's in-domain accuracy with chance."""

from heuristic_core.experiments.subnetworks.jobs.chance import compare_with_chance
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(compare_with_chance)

if __name__ == "__main__":
    run_with_record(main)
