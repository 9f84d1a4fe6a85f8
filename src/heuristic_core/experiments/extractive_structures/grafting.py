"""Whether what a model learns from implications can be grafted onto a model that knows other facts.

As in the authors' code (gradient_grafting.py): all is taught and asked of the names after the test names.
"""

from pathlib import Path
from typing import NamedTuple

from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.data import MadeUp
from heuristic_core.experiments.extractive_structures.freezing import answer_rows
from heuristic_core.experiments.extractive_structures.model import Parameters
from heuristic_core.experiments.extractive_structures.ordering import Weights, parts_of
from heuristic_core.experiments.extractive_structures.tokens import Encode, asked, examples
from heuristic_core.experiments.extractive_structures.training import Unfinished, teach


class Grafts(NamedTuple):
    """rows: of table "extractive_grafting", without names. knows: parameters of a model that was taught the first
    version of the facts. learned: of the same model, taught what they imply."""

    rows: list[dict]
    knows: Weights
    learned: Weights


def graft_rows(
    start: Parameters,
    made: MadeUp,
    stages: dict[str, list[Weights]],
    settings: Finetuning,
    encode: Encode,
    seed: int,
    unfinished: Path | None = None,
) -> Grafts:
    """Ranks of a model that was taught the second version of the facts, and has a graft of what learning the first
    version's implications changed.

    none: nothing; graft: learned by a model that knew the first version; control: by one that knew neither.

    Args:
        start: The model before any facts of made-up words.
        made: Both versions.
        stages: Of :func:`ordering.order_rows`, which taught the first version: the model that knows it, and the one
            that learned the implications without knowing it.
        settings: Of every stage.
        encode: Words to tokens.
        seed: Of the order of sentences.
        unfinished: A folder from which an interrupted run goes on.
    """
    tested = len(made.first.facts.options)
    first, second = (parts_of(version, tested) for version in made)
    saved = unfinished and Unfinished(unfinished, [])

    def taught(model: Parameters, questions, purpose: str) -> Weights:
        return teach(model, examples(questions.sentences, encode), settings, (purpose, seed), unfinished=saved)

    knows, unknowing = stages["facts first"][0], stages["implications first"][0]
    learned = taught(knows, first["implications"], "implications of known facts")
    other = taught(start, second["facts"], "second facts")
    grafts = {"none": (start, start), "graft": (learned, knows), "control": (unknowing, start)}
    parts = {
        "facts": asked(second["facts"], encode),
        "implications": asked(second["implications"], encode),
        "first implications": asked(first["implications"], encode),
    }
    rows = [
        {"weights": weights} | row
        for weights, (a, b) in grafts.items()
        for row in answer_rows(grafted(other, a, b), parts)
    ]
    return Grafts(rows, knows, learned)


def grafted(onto: Parameters, a: Weights, b: Weights) -> Weights:
    """`onto`, with what `a` has more than `b` added to it."""
    return {name: value + (a[name] - b[name]) for name, value in onto.items()}
