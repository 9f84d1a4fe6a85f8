"""Count the subnetworks that fit into a model side by side."""

from heuristic_core.experiments.subnetworks.jobs.packing import pack_subnetworks
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(pack_subnetworks)

if __name__ == "__main__":
    run_with_record(main)
