"""Judge the claims of the list-sorting experiment on a study's tables."""

from heuristic_core.experiments.list_sorting.claims import claims
from heuristic_core.jobs.job import job
from heuristic_core.jobs.tables import judge_of
from heuristic_core.provenance.record import recorded

main = job(judge_of(claims))

if __name__ == "__main__":
    recorded(main)
