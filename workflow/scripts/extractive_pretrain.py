"""Pre-train a small language model on a corpus of a seed's world."""

from heuristic_core.experiments.extractive_structures.jobs.pretrain import pretrain_model
from heuristic_core.jobs.job import job

main = job(pretrain_model, __name__)
