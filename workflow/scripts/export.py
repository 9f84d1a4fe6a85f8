"""Write a study's archive."""

from heuristic_core.experiments.export import export_study
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(export_study)

if __name__ == "__main__":
    run_with_record(main)
