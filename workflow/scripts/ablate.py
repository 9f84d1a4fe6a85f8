"""Ablate heads from the full model."""

from heuristic_core.experiments.heuristic_core.jobs.ablate import ablate_heads
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import recorded

main = job(ablate_heads)

if __name__ == "__main__":
    recorded(main)
