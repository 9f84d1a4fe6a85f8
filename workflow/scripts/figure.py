"""Draw one figure or table of the paper."""

from heuristic_core.experiments.subnetworks.jobs.figure import draw_figure
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(draw_figure)

if __name__ == "__main__":
    run_with_record(main)
