"""Download what a study takes from the Hugging Face hub or an address, and check it."""

from heuristic_core.jobs.fetch import fetch_sources
from heuristic_core.jobs.job import job

main = job(fetch_sources, __name__)
