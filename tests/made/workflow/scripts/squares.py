"""Write the squares of the first integers."""

from heuristic_core.experiments.made.jobs import write_squares

from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(write_squares)

if __name__ == "__main__":
    run_with_record(main)
