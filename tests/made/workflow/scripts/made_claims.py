"""Judge claims on the study's tables."""

from heuristic_core.experiments.made.claims import judge_claims

from heuristic_core.jobs.job import job
from heuristic_core.jobs.tables import make_claims_job
from heuristic_core.provenance.record import run_with_record

main = job(make_claims_job(judge_claims))

if __name__ == "__main__":
    run_with_record(main)
