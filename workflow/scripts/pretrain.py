"""Pre-train a new model on unlabelled pairs."""

from heuristic_core.experiments.subnetworks.jobs.pretrain import pretrain_model
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(pretrain_model)

if __name__ == "__main__":
    run_with_record(main)
