"""Orders and grafts with other learning rates and epochs of every stage: each setting is a run of its own."""

from collections.abc import Iterator
from itertools import product

from heuristic_core.experiments.extractive_structures.config import Finetuning, Sweep
from heuristic_core.experiments.extractive_structures.data import MadeUp
from heuristic_core.experiments.extractive_structures.grafting import graft_rows
from heuristic_core.experiments.extractive_structures.model import Parameters
from heuristic_core.experiments.extractive_structures.ordering import LAST, order_rows
from heuristic_core.experiments.extractive_structures.tokens import Encode


def made_up_sweep_rows(
    start: Parameters, made: MadeUp, settings: Finetuning, sweep: Sweep, encode: Encode, seed: int
) -> Iterator[dict]:
    """Rows of table "extractive_made_up_sweep", without names: ranks of test names at the end of orders, and of grafts.

    Args:
        start: The model before any facts of made-up words.
        made: Facts of made-up words, in both versions.
        settings: Of every stage, but for what is swept.
        sweep: Learning rates and numbers of epochs, each with each.
        encode: Words to tokens.
        seed: Of the order of sentences.
    """
    tested = len(made.first.facts.options)
    for rate, epochs in product(sweep.learning_rates, sweep.epochs):
        own = settings.model_copy(update={"learning_rate": rate, "epochs": epochs, "save_every": None})
        named = {"learning_rate": rate, "epochs": epochs}
        orders = order_rows(start, made.first, tested, own, encode, seed)
        for row in orders.rows:
            if row["taught"] == LAST[0] and row["epoch"] == epochs and row["part"].startswith("test"):
                yield named | {"experiment": "ordering", "model": row["order"]} | answer_of(row)
        for row in graft_rows(start, made, orders.stages, own, encode, seed).rows:
            yield named | {"experiment": "grafting", "model": row["weights"]} | answer_of(row)


def answer_of(row: dict) -> dict:
    """What a row says of answers."""
    return {name: row[name] for name in ("part", "rank", "loss", "questions")}
