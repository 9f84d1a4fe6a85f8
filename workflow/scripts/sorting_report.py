"""Write the report of a list-sorting study: claims, figures, tables and provenance."""

from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.report import sorting_page
from heuristic_core.jobs.shown import reporting
from heuristic_core.provenance.record import recorded

main = reporting(__doc__, TARGETS, sorting_page)

if __name__ == "__main__":
    recorded(main)
