"""The subnetworks of a study that are published, their folders, and their licence."""

import re
from itertools import product

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.config.cells import Cell, spread_cells
from heuristic_core.experiments.subnetworks.config.study import Study

HUB_FOLDER = "hub"  # below the study's folder
CONDITION_KEYS = ("ft_seed", "sparsity", "seed")


def select_subnetworks(study: Study, text: str = "") -> list[tuple[int, Cell]]:
    """Select subnetworks of the last checkpoint at both sparsities.

    Args:
        study: The checked study.
        text: Conditions such as "seed=42 sparsity=0.4"; empty for all subnetworks.

    Returns:
        Pairs of a fine-tuning seed and a cell of the grid.

    Raises:
        InputError: If a condition is malformed, or no subnetwork meets it; the message lists the possible values.
    """
    candidates = list(product(study.finetune.seeds, spread_cells(study)))
    for word in str(text).split():
        match = re.fullmatch(rf"({'|'.join(CONDITION_KEYS)})=([\d.]+)", word)
        if not match:
            raise InputError(
                f"publish = {text!r}: unknown {word!r}; choose from {', '.join(CONDITION_KEYS)}, such as seed=42"
            )
        key, wanted = match[1], float(match[2])
        values = sorted({_value(candidate, key) for candidate in candidates})
        candidates = [candidate for candidate in candidates if _value(candidate, key) == wanted]
        if not candidates:
            raise InputError(
                f"publish = {text!r}: no subnetwork of the last checkpoint has {word}; choose {key} from "
                f"{', '.join(f'{value:g}' for value in values)}"
            )
    return candidates


def _value(candidate: tuple[int, Cell], key: str) -> float:
    """Return the candidate's value of a key of `CONDITION_KEYS`."""
    ft_seed, cell = candidate
    return ft_seed if key == "ft_seed" else getattr(cell, key)


def folder_name(ft_seed: int, sparsity: float, seed: int) -> str:
    """Return the name of one subnetwork's folder below `HUB_FOLDER`.

    Args:
        ft_seed: Fine-tuning seed.
        sparsity: Target share of removed components, 0-1.
        seed: Pruning seed.
    """
    return f"ft{ft_seed}-s{sparsity:g}-seed{seed}"


def infer_licence(study: Study, project_licence: str, stated: str | None = None) -> str | None:
    """Return the licence of models derived from `study`'s model, as an identifier of the hub; None if unknown.

    Args:
        study: The checked study.
        project_licence: This project's licence, for new models and the shipped checkpoint.
        stated: The licence that the user states; it takes precedence.
    """
    if stated:
        return str(stated)
    model = study.model
    ours = model.source == "new" or model.package == "heuristic_core"
    return project_licence.lower() if ours else None
