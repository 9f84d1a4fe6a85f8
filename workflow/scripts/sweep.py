"""Draw what ablating the core costs in studies that differ in a setting."""

from heuristic_core.experiments.subnetworks.jobs.sweep import draw_sweep
from heuristic_core.jobs.job import job

main = job(draw_sweep, __name__)
