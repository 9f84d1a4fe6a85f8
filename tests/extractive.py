"""A tiny study of extractive structures, and what its tests share."""

import torch

from heuristic_core.experiments.extractive_structures.answers import compute_losses
from heuristic_core.experiments.extractive_structures.config import ExtractiveStudy, parse_extractive
from heuristic_core.experiments.extractive_structures.data import Hop, draw_first_hop, draw_names
from heuristic_core.experiments.extractive_structures.model import run
from heuristic_core.experiments.extractive_structures.parameters import init_parameters
from heuristic_core.experiments.extractive_structures.tokens import Vocabulary
from heuristic_core.experiments.extractive_structures.world import load_world

TINY = {
    "experiment": "extractive-structures",
    "study": "tiny",
    "seeds": [1, 2],
    "data": {"cities": 6, "names": 12, "people": 10},
    "model": {"layers": 2, "heads": 2, "width": 12},
    "pretraining": {"steps": 6, "batch_size": 16, "save_every": 2},
    "finetuning": {"epochs": 2, "batch_size": 4},
    "freezing": {"early": 1},
    "scores": {"counterfactuals": 3, "path_steps": 2},
}
WORLD = load_world()
VOCABULARY = Vocabulary(WORLD)
STEP = 1e-5  # of central differences


def study(**blocks) -> ExtractiveStudy:
    """The tiny study with keys of its blocks changed."""
    changed = {n: TINY.get(n, {}) | values if isinstance(values, dict) else values for n, values in blocks.items()}
    return parse_extractive(TINY | changed, "tiny.yaml")


def hop(seed: int = 1) -> Hop:
    """The first hop of the tiny study."""
    data = study().data
    return draw_first_hop(WORLD, data, draw_names(WORLD, data, seed).taught, seed)


def two_models(spread: float = 0.3, change: float = 0.05) -> tuple[dict, dict]:
    """Weights large enough that every component matters, and the same a little changed, in float64."""
    rng = torch.Generator().manual_seed(5)

    def near(weights: dict, deviation: float) -> dict:
        return {
            name: value.double() + deviation * torch.randn(value.shape, generator=rng, dtype=torch.float64)
            for name, value in weights.items()
        }

    old = near(init_parameters(study().model, len(VOCABULARY), 1), spread)
    return old, near(old, change)


def fall(of, p, site, output, token, head=None):
    """The slope of R as the outputs of `site` at one token move to `output`, negative, by central differences."""
    now = getattr(run(p, of.queries.tokens).layers[site[0]], site[1])
    shift = torch.zeros_like(now)
    where = (slice(None), token) if head is None else (slice(None), token, head)
    shift[where] = (output - now)[where]
    ends = [compute_losses(run(p, of.queries.tokens, {site: s * shift}).logits, of.queries) for s in (STEP, -STEP)]
    return -(ends[0] - ends[1]) / (2 * STEP)
