"""Encode sentence pairs with the model's tokenizer."""

from heuristic_core.experiments.subnetworks.jobs.encode import encode_pairs
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(encode_pairs)

if __name__ == "__main__":
    run_with_record(main)
