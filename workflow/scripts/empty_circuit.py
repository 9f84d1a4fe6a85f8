"""Compute the accuracy of a checkpoint's empty circuit."""

from heuristic_core.experiments.subnetworks.jobs.empty_circuit import evaluate_empty_circuit
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(evaluate_empty_circuit)

if __name__ == "__main__":
    run_with_record(main)
