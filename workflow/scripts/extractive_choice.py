"""Choose the learning rate and number of epochs that teach a hop's facts best."""

from heuristic_core.experiments.extractive_structures.jobs.choice import choose_settings
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(choose_settings)

if __name__ == "__main__":
    run_with_record(main)
