"""Measure what heads add to random subnetworks."""

from heuristic_core.experiments.subnetworks.jobs.counter_heads import measure_head_effects
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(measure_head_effects)

if __name__ == "__main__":
    run_with_record(main)
