"""Compute extractive scores, and compare them with the effects of replacing and removing components."""

from heuristic_core.experiments.extractive_structures.jobs.score import score_components
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(score_components)

if __name__ == "__main__":
    run_with_record(main)
