"""Download and check the model of a study of extractive structures. The only step that uses a network."""

import os

from heuristic_core.experiments.extractive_structures.jobs.fetch import fetch_decoder
from heuristic_core.jobs.job import job

# Plain HTTP is the only tested transport; huggingface_hub reads this variable when it is imported.
os.environ["HF_HUB_DISABLE_XET"] = "1"
main = job(fetch_decoder, __name__)
