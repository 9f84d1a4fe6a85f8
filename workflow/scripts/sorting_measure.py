"""Measure every checkpoint of the models of one condition: losses, circuits of heads, and ablations."""

from heuristic_core.experiments.list_sorting.jobs.measure import measure_models
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(measure_models)

if __name__ == "__main__":
    run_with_record(main)
