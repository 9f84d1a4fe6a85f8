"""Take from a study's archive what it is drawn from."""

from heuristic_core.experiments.subnetworks.jobs.unpack import unpack_archive
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(unpack_archive)

if __name__ == "__main__":
    run_with_record(main)
