"""Facts of made-up words: the order in which facts and implications are taught, and what a graft of weights carries
over.

All names' facts are taught; of the implications, those about names after the test names, which are one for each city.
"""

from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.data import Hop, MadeUp, Questions
from heuristic_core.experiments.extractive_structures.freezing import answer_rows
from heuristic_core.experiments.extractive_structures.model import Parameters
from heuristic_core.experiments.extractive_structures.tokens import Encode, asked, examples
from heuristic_core.experiments.extractive_structures.training import Unfinished, teach

ORDERS = {
    "joint": (("facts", "implications"),),
    "facts first": (("facts",), ("implications",)),
    "implications first": (("implications",), ("facts",)),
}
Weights = dict[str, Tensor]


class Orders(NamedTuple):
    """rows: of table "extractive_ordering", without names. stages: the parameters after every stage, by order."""

    rows: list[dict]
    stages: dict[str, list[Weights]]


def order_rows(
    start: Parameters,
    made: Hop,
    tested: int,
    settings: Finetuning,
    encode: Encode,
    seed: int,
    unfinished: Path | None = None,
) -> Orders:
    """Ranks after every epoch of every order. tested: how many names, the first, are taught no implication. unfinished:
    a folder from which an interrupted run goes on."""
    questions = {
        "facts": made.facts,
        "taught implications": _part(made.implications, slice(tested, None)),
        "test implications": _part(made.implications, slice(tested)),
    }
    parts = {name: asked(one, encode) for name, one in questions.items()}
    taught = {"facts": made.facts.sentences, "implications": questions["taught implications"].sentences}
    rows, stages = [], {}
    saved = unfinished and Unfinished(unfinished, rows)
    for order, steps in ORDERS.items():
        now, stages[order] = dict(start), []
        for number, named in enumerate(steps):
            sentences = [one for name in named for one in taught[name]]
            about = {"order": order, "stage": number, "taught": " and ".join(named)}

            def after(epoch: int, then: Parameters, about: dict = about) -> None:
                rows.extend(about | {"epoch": epoch} | one for one in answer_rows(then, parts))

            now = teach(now, examples(sentences, encode), settings, (f"{order} {number}", seed), None, after, saved)
            stages[order].append(now)
    return Orders(rows, stages)


def graft_rows(
    start: Parameters,
    made: MadeUp,
    stages: dict[str, list[Weights]],
    settings: Finetuning,
    encode: Encode,
    seed: int,
    unfinished: Path | None = None,
) -> list[dict]:
    """Ranks of a model that was taught the second version of the facts, and has a graft of what learning implications
    changed: none; graft, learned by a model that knew the first version; control, by one that knew no facts.

    stages: of :func:`order_rows`, which taught the first version. unfinished: as there.
    """
    tested = len(made.first.facts.options)
    knows, learned = stages["facts first"]
    unknowing = stages["implications first"][0]
    facts, saved = examples(made.second.facts.sentences, encode), unfinished and Unfinished(unfinished, [])
    second = teach(start, facts, settings, ("second facts", seed), unfinished=saved)
    grafts = {"none": (start, start), "graft": (learned, knows), "control": (unknowing, start)}
    questions = {
        "facts": made.second.facts,
        "implications": made.second.implications,
        "first implications": made.first.implications,
    }
    parts = {name: asked(_part(one, slice(tested, None)), encode) for name, one in questions.items()}
    return [
        {"weights": weights} | row
        for weights, (a, b) in grafts.items()
        for row in answer_rows(grafted(second, a, b), parts)
    ]


def grafted(onto: Parameters, a: Weights, b: Weights) -> Weights:
    """`onto`, with what `a` has more than `b` added to it."""
    return {name: value + (a[name] - b[name]) for name, value in onto.items()}


def _part(questions: Questions, which: slice) -> Questions:
    return Questions(questions.sentences[which], questions.options)
