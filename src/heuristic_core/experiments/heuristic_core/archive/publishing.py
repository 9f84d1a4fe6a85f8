"""Which subnetworks of a study are published, in which folders, and under which licence."""

import re
from itertools import product

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.config.cells import Cell, spread
from heuristic_core.experiments.heuristic_core.config.study import Study

FOLDER = "hub"  # below the study's folder
CHOICES = ("ft_seed", "sparsity", "seed")


def chosen(study: Study, text: str = "") -> list[tuple[int, Cell]]:
    """The fine-tuning seed and cell of each: of the last checkpoint, at both sparsities, those that `text` leaves.

    text: such as "seed=42 sparsity=0.4"; empty for all. Raises InputError, which says what there is.
    """
    there = list(product(study.finetune.seeds, spread(study)))
    for word in str(text).split():
        match = re.fullmatch(rf"({'|'.join(CHOICES)})=([\d.]+)", word)
        if not match:
            raise InputError(f"publish = {text!r}: {word!r} is no choice; give {', '.join(CHOICES)}, such as seed=42")
        key, wanted = match[1], float(match[2])
        values = sorted({_value(one, key) for one in there})
        there = [one for one in there if _value(one, key) == wanted]
        if not there:
            raise InputError(
                f"publish = {text!r}: no subnetwork of the last checkpoint has {word}; for {key} give one of "
                f"{', '.join(f'{value:g}' for value in values)}"
            )
    return there


def _value(one: tuple[int, Cell], key: str) -> float:
    ft_seed, cell = one
    return ft_seed if key == "ft_seed" else getattr(cell, key)


def folder_name(ft_seed: int, sparsity: float, seed: int) -> str:
    """The folder of one subnetwork below `FOLDER`."""
    return f"ft{ft_seed}-s{sparsity:g}-seed{seed}"


def licence_of(study: Study, own: str, given: str | None = None) -> str | None:
    """The licence of models that descend from `study`'s, as the hub's identifiers say it; None where nobody knows it.

    own: this project's, which a new model and the shipped checkpoint have. given: what the user says of the model.
    """
    if given:
        return str(given)
    model = study.model
    ours = model.source == "new" or model.package == "heuristic_core"
    return own.lower() if ours else None
