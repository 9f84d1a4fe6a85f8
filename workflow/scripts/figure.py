"""Draw one figure or table of the paper."""

from heuristic_core.experiments.heuristic_core.jobs.figure import draw_figure
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import recorded

main = job(draw_figure)

if __name__ == "__main__":
    recorded(main)
