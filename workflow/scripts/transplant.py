"""Give subnetworks the weights of other checkpoints."""

from heuristic_core.experiments.subnetworks.jobs.transplant import transplant_subnetworks
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(transplant_subnetworks)

if __name__ == "__main__":
    run_with_record(main)
