"""Compute CPR and CMD of every checkpoint."""

from heuristic_core.experiments.heuristic_core.jobs.circuit_performance import measure_circuit_performance
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import recorded

main = job(measure_circuit_performance)

if __name__ == "__main__":
    recorded(main)
