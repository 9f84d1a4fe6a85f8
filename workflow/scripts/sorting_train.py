"""Train list-sorting transformers, one for each seed, and keep checkpoints."""

from heuristic_core.experiments.list_sorting.jobs.train import train_models
from heuristic_core.jobs.job import job

main = job(train_models, __name__)
