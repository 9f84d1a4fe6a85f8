"""Judge the claims of extractive structures on a study's tables."""

from heuristic_core.experiments.extractive_structures.claims import claims
from heuristic_core.jobs.shown import judging
from heuristic_core.provenance.record import recorded

main = judging(__doc__, claims)

if __name__ == "__main__":
    recorded(main)
