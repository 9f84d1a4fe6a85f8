"""Draw what ablating the core costs in studies that differ in a setting."""

from heuristic_core.experiments.subnetworks.jobs.sweep import draw_sweep
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(draw_sweep)

if __name__ == "__main__":
    run_with_record(main)
