"""Measure which layers must learn a fact, by freezing layers or restoring their former weights."""

from heuristic_core.experiments.extractive_structures.jobs.freeze import freeze_layers
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(freeze_layers)

if __name__ == "__main__":
    run_with_record(main)
