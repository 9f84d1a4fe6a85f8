"""Write subnetworks of a study as folders for the Hugging Face hub."""

from heuristic_core.experiments.subnetworks.jobs.publish import publish_subnetworks
from heuristic_core.jobs.job import job

main = job(publish_subnetworks, __name__)
