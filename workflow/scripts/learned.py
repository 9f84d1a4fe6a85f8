"""Fail where the full model has not learned the task."""

from heuristic_core.experiments.subnetworks.jobs.chance import require_learning
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(require_learning)

if __name__ == "__main__":
    run_with_record(main)
