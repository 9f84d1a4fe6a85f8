"""Predictions with known answers on a few subsets, and a core of one head, for tests of tables of interventions."""

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.contrasts import Levels
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.identity import Identity

GRID, RUN = ComponentGrid(3, 4), Identity("s", "m", "t", 1, 30)
SUBSETS = {"in_domain": ("id", None), "a": ("ood", "f"), "b": ("ood", "f"), "c": ("ood-entailment", "f")}
PAIRS = 40
COLUMNS = {
    "subset": np.repeat(list(SUBSETS), PAIRS),
    "group": np.repeat([group for group, _ in SUBSETS.values()], PAIRS),
    "family": np.repeat(np.array([family for _, family in SUBSETS.values()], object), PAIRS),
    "template": np.full(len(SUBSETS) * PAIRS, None, object),
}
RNG = np.random.default_rng(0)


def known_levels():
    return Levels(COLUMNS, None, 200, 0)


def values(**accuracy):
    """Accuracy on every subset, percent, as values by pair [pairs, 1] in random order; log odds of +-1 with it."""
    correct = [RNG.permutation(np.arange(PAIRS) < PAIRS * accuracy[name] / 100) for name in SUBSETS]
    correct = np.concatenate(correct)[:, None]
    return {"accuracy": 100.0 * correct, "log_odds": 2.0 * correct - 1}


def core_heads():
    heads = [c for c in GRID if c.kind == "head"]
    rows = [{"component": c.index, "name": c.name, "layer": c.layer, "head": c.head} for c in heads]
    both = [
        row | {"ft_seed": ft_seed, "in_core": ft_seed == 1 and row["component"] == 1}
        for ft_seed in (1, 2)
        for row in rows
    ]
    return pd.DataFrame(both)


def words(figure):
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text)]
