"""Teach the facts of both hops with several learning rates, and rank answers after several numbers of epochs."""

from heuristic_core.experiments.extractive_structures.jobs.sweep import sweep_settings
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(sweep_settings)

if __name__ == "__main__":
    run_with_record(main)
