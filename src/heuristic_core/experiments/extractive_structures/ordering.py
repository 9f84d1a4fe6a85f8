"""The order in which facts of made-up words and their implications are taught.

As in the authors' code (data_ordering.py): the stages of an order teach the names after the test names. Then each model
is taught the test names' facts, and what these imply is asked. Where facts come first, implications are taught in
batches of half of the size, and all weights learn.
"""

from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.data import Hop, Questions
from heuristic_core.experiments.extractive_structures.freezing import answer_rows
from heuristic_core.experiments.extractive_structures.model import Parameters
from heuristic_core.experiments.extractive_structures.tokens import Encode, asked, examples
from heuristic_core.experiments.extractive_structures.training import Unfinished, teach

ORDERS = {
    "joint": (("facts", "implications"),),
    "facts first": (("facts",), ("implications",)),
    "implications first": (("implications",), ("facts",)),
}
HALVED = ("facts first", 1)
LAST = ("test facts",)  # what the last stage of every order teaches
Weights = dict[str, Tensor]


class Orders(NamedTuple):
    """rows: of table "extractive_ordering", without names. stages: the parameters after every stage but the last, by
    order."""

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
    """Ranks after every epoch of every order.

    Args:
        start: The model before any facts of made-up words.
        made: Facts of all names, and what they imply.
        tested: How many names, the first, are test names.
        settings: Of every stage.
        encode: Words to tokens.
        seed: Of the order of sentences.
        unfinished: A folder from which an interrupted run goes on.
    """
    questions = parts_of(made, tested)
    parts = {name: asked(one, encode) for name, one in questions.items()}
    rows, stages = [], {}
    saved = unfinished and Unfinished(unfinished, rows)
    for order, steps in ORDERS.items():
        now, stages[order] = dict(start), []
        for number, named in enumerate((*steps, LAST)):
            sentences = [one for name in named for one in questions[name].sentences]
            about = {"order": order, "stage": number, "taught": " and ".join(named)}

            def after(epoch: int, then: Parameters, about: dict = about) -> None:
                rows.extend(about | {"epoch": epoch} | one for one in answer_rows(then, parts))

            own = halved(settings) if (order, number) == HALVED else settings
            now = teach(now, examples(sentences, encode), own, (f"{order} {number}", seed), None, after, saved)
            if named != LAST:
                stages[order].append(now)
    return Orders(rows, stages)


def parts_of(made: Hop, tested: int) -> dict[str, Questions]:
    """Facts and implications of the names after the test names, and of the test names."""

    def part(of: Questions, which: slice) -> Questions:
        return Questions(of.sentences[which], of.options)

    others, test = slice(tested, None), slice(tested)
    return {
        "facts": part(made.facts, others),
        "implications": part(made.implications, others),
        "test facts": part(made.facts, test),
        "test implications": part(made.implications, test),
    }


def halved(settings: Finetuning) -> Finetuning:
    """The same with batches of half of the size."""
    return settings.model_copy(update={"batch_size": max(1, settings.batch_size // 2)})
