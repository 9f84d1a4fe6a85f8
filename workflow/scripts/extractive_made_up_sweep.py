"""Rank answers after orders and grafts of made-up facts with several learning rates and numbers of epochs."""

from heuristic_core.experiments.extractive_structures.jobs.made_up_sweep import sweep_made_up_facts
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(sweep_made_up_facts)

if __name__ == "__main__":
    run_with_record(main)
