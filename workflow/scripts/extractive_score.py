"""Compute extractive scores, and compare them with the effects of replacing and removing components."""

from heuristic_core.experiments.extractive_structures.jobs.score import score_components
from heuristic_core.jobs.job import job

main = job(score_components, __name__)
