"""Fine-tune a model and keep checkpoints."""

from heuristic_core.jobs.job import job
from heuristic_core.training.checkpoints import finetune_checkpoints

main = job(finetune_checkpoints, __name__)
