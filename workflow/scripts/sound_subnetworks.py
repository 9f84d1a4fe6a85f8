"""Select the mid-sparsity subnetworks whose pruning went well."""

from heuristic_core.experiments.subnetworks.jobs.sound_subnetworks import select_sound_subnetworks
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(select_sound_subnetworks)

if __name__ == "__main__":
    run_with_record(main)
