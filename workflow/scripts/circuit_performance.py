"""Compute CPR and CMD of every checkpoint."""

from heuristic_core.experiments.subnetworks.jobs.circuit_performance import measure_circuit_performance
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(measure_circuit_performance)

if __name__ == "__main__":
    run_with_record(main)
