"""Ablate heads from the full model."""

from heuristic_core.experiments.subnetworks.jobs.ablate import ablate_heads
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(ablate_heads)

if __name__ == "__main__":
    run_with_record(main)
