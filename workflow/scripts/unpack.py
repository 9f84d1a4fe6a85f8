"""Take from a study's archive what it is drawn from."""

from heuristic_core.experiments.subnetworks.jobs.unpack import unpack_archive
from heuristic_core.jobs.job import job

main = job(unpack_archive, __name__)
