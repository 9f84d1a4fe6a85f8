"""Write the report of a study of extractive structures: claims, figures, tables and their provenance."""

from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.experiments.extractive_structures.report import extractive_page
from heuristic_core.jobs.shown import reporting
from heuristic_core.provenance.record import recorded

main = reporting(__doc__, TARGETS, extractive_page)

if __name__ == "__main__":
    recorded(main)
