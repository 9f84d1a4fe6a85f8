"""Write subnetworks of a study as folders for the Hugging Face hub."""

from heuristic_core.experiments.subnetworks.jobs.publish import publish_subnetworks
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(publish_subnetworks)

if __name__ == "__main__":
    run_with_record(main)
