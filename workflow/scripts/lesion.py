"""Fine-tune a model without some of its heads."""

from heuristic_core.experiments.subnetworks.jobs.lesion import finetune_lesioned_model
from heuristic_core.jobs.job import job

main = job(finetune_lesioned_model, __name__)
