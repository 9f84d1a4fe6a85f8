"""What plans are tested on: the paper's study on MNLI, its model's shape, numbers of pairs, and its work by name."""

import re

from conftest import ROOT

from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.plan.pairs import Pairs, StudyPairs
from heuristic_core.experiments.subnetworks.plan.work import estimate_work
from heuristic_core.plan.shapes import read_shape

PAPER = load_study(ROOT / "config" / "paper-mnli-bert.yaml")
BERT = read_shape(PAPER.model)
HUNDRED = StudyPairs(Pairs(100, 4000), Pairs(50, 1000), subsets=5, largest_subset=10, counted=True)


def by_name(study, shape, data):
    """Work of a study by its name."""
    return {part.name: part for part in estimate_work(study, shape, data)}


def parse_time(cell):
    """Seconds of a time such as ~1 min 10 s."""
    units = {"s": 1, "min": 60, "h": 3600}
    parts = re.findall(r"([\d.,]+) (s|min|h)", cell)
    assert parts, cell
    return sum(float(value.replace(",", "")) * units[unit] for value, unit in parts)
