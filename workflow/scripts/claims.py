"""Judge claims on a study's tables."""

from heuristic_core.experiments.subnetworks.jobs.claims import judge_claims
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(judge_claims)

if __name__ == "__main__":
    run_with_record(main)
