"""Compute accuracies of a lesioned model over fine-tuning."""

from heuristic_core.experiments.subnetworks.jobs.finetune_accuracy import score_lesioned_finetuning
from heuristic_core.jobs.job import job

main = job(score_lesioned_finetuning, __name__)
