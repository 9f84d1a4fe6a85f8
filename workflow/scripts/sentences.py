"""Generate or read the sentence pairs of a task."""

from heuristic_core.experiments.subnetworks.jobs.sentences import make_sentences
from heuristic_core.jobs.job import job
from heuristic_core.provenance.record import run_with_record

main = job(make_sentences)

if __name__ == "__main__":
    run_with_record(main)
