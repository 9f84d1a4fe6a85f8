"""Encode sentence pairs with the model's tokenizer."""

from heuristic_core.experiments.subnetworks.jobs.encode import encode_pairs
from heuristic_core.jobs.job import job

main = job(encode_pairs, __name__)
