"""Download what a study takes from the Hugging Face hub or an address, and check it."""

from heuristic_core.jobs.fetch import fetch_sources
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(fetch_sources)

if __name__ == "__main__":
    run_with_record(main)
