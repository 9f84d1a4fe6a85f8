"""Write the squares of the first integers."""

from heuristic_core.experiments.made.jobs import write_squares

from heuristic_core.jobs.job import job

main = job(write_squares, __name__)
