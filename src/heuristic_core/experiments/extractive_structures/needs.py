"""What a job of each rule asks of a cluster: memory of the host, and time."""

import math
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.extractive_structures.config import ExtractiveStudy
from heuristic_core.experiments.extractive_structures.plan import hours_of, weights_of

MARGIN = 2  # of everything that is asked for over what is estimated
SNAKEMAKE = 1.2e9  # bytes of a job without a model: its processes and libraries
START = 5  # minutes that any job may take
RULES = ("load", "teach", "freeze", "order", "prune", "score", "sweep", "made_up_sweep")
# Copies of the weights that a job holds in the host's memory: without a GPU, all of its own, with one those that wait.
COPIES = {"load": 2, "teach": 6, "freeze": 7, "order": 12, "prune": 4, "score": 4, "sweep": 6, "made_up_sweep": 12}
UNKNOWN = 3e10  # bytes of a model of which nothing is known before it is fetched


class Need(NamedTuple):
    """mem_mb: MB of the host's memory. runtime: minutes. As Snakemake names these resources."""

    mem_mb: int
    runtime: int


def needs(study: ExtractiveStudy) -> dict[str, Need]:
    """By rule, one job of each."""
    try:
        weights, hours = weights_of(study), hours_of(study)
    except InputError:
        weights, hours = UNKNOWN, {}
    found = {}
    for rule in RULES:
        one = hours.get(rule, 0.0) / len(study.seeds) / (len(study.corpora) if rule == "teach" else 1)
        bytes_ = SNAKEMAKE + MARGIN / 2 * COPIES[rule] * weights
        found[rule] = Need(math.ceil(bytes_ / 1e8) * 100, math.ceil(START + MARGIN * 60 * one))
    return found
