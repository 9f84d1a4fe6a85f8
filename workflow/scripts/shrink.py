"""Write a subnetwork as an ordinary Hugging Face checkpoint."""

from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record
from heuristic_core.pruning.checkpoint import write_checkpoint

main = job(write_checkpoint)

if __name__ == "__main__":
    run_with_record(main)
