"""Compute accuracies of the full model over fine-tuning."""

from heuristic_core.experiments.subnetworks.jobs.finetune_accuracy import score_finetuning
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(score_finetuning)

if __name__ == "__main__":
    run_with_record(main)
