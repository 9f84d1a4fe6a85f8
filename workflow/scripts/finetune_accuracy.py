"""Compute accuracies of the full model over fine-tuning."""

from heuristic_core.experiments.subnetworks.jobs.finetune_accuracy import score_finetuning
from heuristic_core.jobs.job import job

main = job(score_finetuning, __name__)
