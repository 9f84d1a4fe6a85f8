"""Teach facts of made-up words and their implications in several orders.

As in the authors' code (data_ordering.py), the stages of an order teach the names after the test names. Then each model
is taught the test names' facts, and asked what these imply. If facts come first, implications are taught in batches of
half the size.
"""

from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.data import Hop, Questions
from heuristic_core.experiments.extractive_structures.freezing import answer_rows
from heuristic_core.experiments.extractive_structures.parameters import Parameters, select_weights
from heuristic_core.experiments.extractive_structures.tokens import Encoder, encode_examples, encode_queries
from heuristic_core.experiments.extractive_structures.training import StageSaving, teach

ORDERS = {
    "joint": (("facts", "implications"),),
    "facts first": (("facts",), ("implications",)),
    "implications first": (("implications",), ("facts",)),
}
HALF_BATCH_STAGE = ("facts first", 1)
LAST_STAGE = ("test facts",)  # what the last stage of every order teaches
Weights = dict[str, Tensor]


class Orders(NamedTuple):
    """Results of teaching in several orders.

    Attributes:
        rows: Rows of table "extractive_ordering", without names.
        stages: Parameters after every stage except the last, by order.
    """

    rows: list[dict]
    stages: dict[str, list[Weights]]


def order_rows(
    start: Parameters,
    hop: Hop,
    test_name_count: int,
    settings: Finetuning,
    encode: Encoder,
    seed: int,
    unfinished: Path | None = None,
) -> Orders:
    """Teach all orders and rank answers after every epoch.

    Args:
        start: The model before any facts of made-up words.
        hop: Facts of all names, and what they imply.
        test_name_count: Number of test names, which are the first names.
        settings: Settings of every stage.
        encode: Words to tokens.
        seed: Seed of the order of sentences.
        unfinished: Folder of saved states, from which an interrupted run resumes.
    """
    questions = split_parts(hop, test_name_count)
    parts = {name: encode_queries(part, encode) for name, part in questions.items()}
    rows, stages = [], {}
    saved, trained = unfinished and StageSaving(unfinished, rows), select_weights(start, settings.made_up_weights)
    for order, order_stages in ORDERS.items():
        weights, stages[order] = dict(start), []
        for number, taught in enumerate((*order_stages, LAST_STAGE)):
            sentences = [sentence for name in taught for sentence in questions[name].sentences]
            labels = {"order": order, "stage": number, "taught": " and ".join(taught)}

            def measure(epoch: int, parameters: Parameters, labels: dict = labels) -> None:
                rows.extend(labels | {"epoch": epoch} | row for row in answer_rows(parameters, parts))

            stage_settings = _halve_batch(settings) if (order, number) == HALF_BATCH_STAGE else settings
            encoded = encode_examples(sentences, encode)
            purpose = f"{order} {number}", seed
            weights = teach(weights, encoded, stage_settings, purpose, trained, measure, saved)
            if taught != LAST_STAGE:
                stages[order].append(weights)
    return Orders(rows, stages)


def split_parts(hop: Hop, test_name_count: int) -> dict[str, Questions]:
    """Split facts and implications into those of the test names and those of the other names.

    Args:
        hop: Facts and implications of a hop, in the order of the names.
        test_name_count: Number of test names, which come first.
    """

    def part(questions: Questions, names: slice) -> Questions:
        return Questions(questions.sentences[names], questions.options)

    others, test = slice(test_name_count, None), slice(test_name_count)
    return {
        "facts": part(hop.facts, others),
        "implications": part(hop.implications, others),
        "test facts": part(hop.facts, test),
        "test implications": part(hop.implications, test),
    }


def _halve_batch(settings: Finetuning) -> Finetuning:
    """Return the settings with batches of half the size."""
    return settings.model_copy(update={"batch_size": max(1, settings.batch_size // 2)})
