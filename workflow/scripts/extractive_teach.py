"""Teach a pre-trained model the facts of both hops, and measure its answers after every epoch."""

from heuristic_core.experiments.extractive_structures.jobs.teach import teach_facts
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(teach_facts)

if __name__ == "__main__":
    run_with_record(main)
