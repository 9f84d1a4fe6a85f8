"""A few real steps of the jobs of extractive structures, for tests/steps.py."""

import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.config import parse_extractive
from heuristic_core.experiments.extractive_structures.counterfactuals import contrast
from heuristic_core.experiments.extractive_structures.freezing import curve_rows
from heuristic_core.experiments.extractive_structures.grafting import graft_rows
from heuristic_core.experiments.extractive_structures.localisation import localisation_rows
from heuristic_core.experiments.extractive_structures.ordering import order_rows
from heuristic_core.experiments.extractive_structures.parameters import init_parameters
from heuristic_core.experiments.extractive_structures.patching import measure_replacement
from heuristic_core.experiments.extractive_structures.pruning import run_full_model, subnetwork_rows
from heuristic_core.experiments.extractive_structures.removal import (
    agreement_rows,
    component_rows,
    removal_rows,
    score_rows,
)
from heuristic_core.experiments.extractive_structures.scores import compute_scores
from heuristic_core.experiments.extractive_structures.setting import Setting
from heuristic_core.experiments.extractive_structures.training import learn

# Two layers of the default heads, and few facts: an emulated processor takes long for more.
STUDY = parse_extractive(
    {
        "experiment": "extractive-structures",
        "study": "s",
        "seeds": [1],
        "data": {"cities": 4, "names": 8, "people": 6},
        "model": {"layers": 2, "heads": 2, "width": 64},
        "pretraining": {"steps": 2, "batch_size": 16},
        "finetuning": {"epochs": 1},
        "freezing": {"early": 1},
        "scores": {"counterfactuals": 1, "path_steps": 2},
        "pruning": {"seeds": [1], "gates": {"rise": 2, "hold": 1, "batch_size": 4}, "sparsity": 0.2},
    }
)


def extractive() -> dict[str, Tensor]:
    """A model pre-trained and taught facts, its scores, their replacement, and orders and grafts of made-up facts."""
    setting, settings = Setting(STUDY.data, 1), STUDY.finetuning
    start = init_parameters(STUDY.model, len(setting.vocabulary), 1)
    start, losses = learn(start, setting.encode_corpus("whole"), STUDY.pretraining, 2, ("pretraining", 1))
    taught, made = setting.encode_hop("second"), setting.draw_made_up_facts()
    curves, end = curve_rows(start, taught.facts, taught.parts, settings, 1)
    of = contrast(start, end, taught.parts["implications"], 2, 1)
    scored = compute_scores(of, 2)
    two = contrast(
        start, end, taught.parts["implications"].select(torch.arange(2)), 1, 1
    )  # replacement takes many runs
    components = component_rows(of, scored)
    cities, encode = STUDY.data.cities, setting.vocabulary
    orders = order_rows(start, made.first, cities, settings, encode, 1)
    grafts = graft_rows(start, made, orders.stages, settings, encode, 1)
    rows = {
        "curves": curves,
        "scores": score_rows(scored, taught.hop.implications.sentences),
        "components": components,
        "removal": removal_rows(components),
        "subnetworks": subnetwork_rows(run_full_model(end, taught.parts["implications"]), STUDY.pruning, "", 1),
        "agreement": agreement_rows(compute_scores(two, 2), measure_replacement(two)),
        "orders": orders.rows,
        "grafts": grafts.rows,
        "localisation": localisation_rows(
            grafts.fact_weights, grafts.implication_weights, made.first, cities, settings, encode, 1
        ),
    }
    floats = {name: [v for row in group for v in row.values() if isinstance(v, float)] for name, group in rows.items()}
    result = {name: torch.tensor(values, dtype=torch.float64) for name, values in floats.items()}
    return result | {"losses": losses} | {f"weight {name}": value for name, value in start.items()}
