"""Teach facts of made-up words and their implications in several orders; graft and localise what is learned."""

from heuristic_core.experiments.extractive_structures.jobs.order import teach_orders
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(teach_orders)

if __name__ == "__main__":
    run_with_record(main)
