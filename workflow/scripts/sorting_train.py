"""Train list-sorting transformers, one for each seed, and keep checkpoints."""

from heuristic_core.experiments.list_sorting.jobs.train import train_models
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(train_models)

if __name__ == "__main__":
    run_with_record(main)
