"""Convert the weights of a decoder that was pre-trained elsewhere, and copy its tokenizer."""

from heuristic_core.experiments.extractive_structures.jobs.load import convert_decoder
from heuristic_core.jobs.job import job

main = job(convert_decoder, __name__)
