"""Measure what later heads restore and transmit while the core is ablated."""

from heuristic_core.experiments.subnetworks.jobs.mediation import mediate
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(mediate)

if __name__ == "__main__":
    run_with_record(main)
