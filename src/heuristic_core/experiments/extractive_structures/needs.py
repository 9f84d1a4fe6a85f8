"""Cluster resources that a job of each rule requests: memory of the host, and time."""

import math

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.extractive_structures.config import ExtractiveStudy
from heuristic_core.experiments.extractive_structures.plan import count_weight_bytes, estimate_hours
from heuristic_core.plan.devices import REQUEST_DEVICES
from heuristic_core.plan.needs import Need

SAFETY_FACTOR = 2  # of requests over estimates
BASE_BYTES = 1.2e9  # of a job without a model: its processes and libraries
BASE_MINUTES = 5  # that any job may take
RULES = ("load", "teach", "freeze", "order", "prune", "score", "sweep", "made_up_sweep")
# Copies of the weights that a job holds in the host's memory: without a GPU, all copies; with a GPU, those that wait.
COPIES = {"load": 2, "teach": 6, "freeze": 7, "order": 12, "prune": 4, "score": 4, "sweep": 6, "made_up_sweep": 12}
UNKNOWN_MODEL_BYTES = 3e10  # assumed for a model whose shape is unknown before it is fetched


def estimate_needs(study: ExtractiveStudy) -> dict[str, Need]:
    """Return the requests of one job of each rule, by rule."""
    try:
        weight_bytes = count_weight_bytes(study)
        hours = estimate_hours(study, REQUEST_DEVICES[study.device])
    except InputError:
        weight_bytes, hours = UNKNOWN_MODEL_BYTES, {}
    requests = {}
    for rule in RULES:
        job_hours = hours.get(rule, 0.0) / len(study.seeds) / (len(study.corpora) if rule == "teach" else 1)
        memory = BASE_BYTES + SAFETY_FACTOR / 2 * COPIES[rule] * weight_bytes
        minutes = BASE_MINUTES + SAFETY_FACTOR * 60 * job_hours
        requests[rule] = Need(math.ceil(memory / 1e8) * 100, math.ceil(minutes))
    return requests
