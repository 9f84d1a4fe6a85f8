"""Write the report of a study of the list-sorting experiment."""

from heuristic_core.experiments.list_sorting.report import sorting_page
from heuristic_core.jobs.figures import reporter_of
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import recorded

main = job(reporter_of(sorting_page))

if __name__ == "__main__":
    recorded(main)
