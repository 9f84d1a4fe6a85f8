"""Pre-train a new model on unlabelled pairs."""

from heuristic_core.experiments.subnetworks.jobs.pretrain import pretrain_model
from heuristic_core.jobs.job import job

main = job(pretrain_model, __name__)
