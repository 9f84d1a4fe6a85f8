"""Convert the weights of a decoder that was pre-trained elsewhere, and copy its tokenizer."""

from heuristic_core.experiments.extractive_structures.jobs.load import convert_decoder
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(convert_decoder)

if __name__ == "__main__":
    run_with_record(main)
