"""Fine-tune a model and keep checkpoints."""

from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record
from heuristic_core.training.checkpoints import finetune_checkpoints

main = job(finetune_checkpoints)

if __name__ == "__main__":
    run_with_record(main)
