"""Find heads that attend to the repeated word before fine-tuning."""

from heuristic_core.experiments.subnetworks.jobs.attention import measure_initial_attention
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(measure_initial_attention)

if __name__ == "__main__":
    run_with_record(main)
