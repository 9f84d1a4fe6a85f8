"""Generate or read the sentence pairs of a task."""

from heuristic_core.experiments.subnetworks.jobs.sentences import make_sentences
from heuristic_core.jobs.job import job

main = job(make_sentences, __name__)
