"""Fine-tune a model without some of its heads."""

from heuristic_core.experiments.subnetworks.jobs.lesion import finetune_lesioned_model
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(finetune_lesioned_model)

if __name__ == "__main__":
    run_with_record(main)
