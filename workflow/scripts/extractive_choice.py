"""Choose the learning rate and number of epochs that teach a hop's facts best."""

from heuristic_core.experiments.extractive_structures.jobs.choice import choose_settings
from heuristic_core.jobs.job import job

main = job(choose_settings, __name__)
