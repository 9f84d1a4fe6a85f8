"""Compute the accuracy of a checkpoint's empty circuit."""

from heuristic_core.experiments.heuristic_core.jobs.empty_circuit import evaluate_empty_circuit
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import recorded

main = job(evaluate_empty_circuit)

if __name__ == "__main__":
    recorded(main)
