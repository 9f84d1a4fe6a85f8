"""Write a subnetwork as an ordinary Hugging Face checkpoint."""

from heuristic_core.jobs.job import job
from heuristic_core.pruning.checkpoint import write_checkpoint

main = job(write_checkpoint, __name__)
