"""Teaching of made-up facts with other learning rates and numbers of epochs, each setting separately."""

from collections.abc import Iterator
from itertools import product

from safetensors.torch import load_file

from heuristic_core.common.roles import Output
from heuristic_core.experiments.extractive_structures.config import Finetuning, Sweep
from heuristic_core.experiments.extractive_structures.data import MadeUpFacts
from heuristic_core.experiments.extractive_structures.grafting import graft_rows
from heuristic_core.experiments.extractive_structures.jobs.seed_model import SeedModel
from heuristic_core.experiments.extractive_structures.ordering import LAST_STAGE, order_rows
from heuristic_core.experiments.extractive_structures.parameters import Parameters
from heuristic_core.experiments.extractive_structures.tokens import Encoder
from heuristic_core.tables.parquet import write_table


def sweep_made_up_facts(
    model: SeedModel,
    finetuning: Finetuning,
    sweep: Sweep,
    table: Output,
) -> None:
    """Rank answers after orders and grafts of made-up facts with several learning rates and numbers of epochs.

    Args:
        model: The pre-trained model.
        finetuning: Settings of teaching, except for those that are swept.
        sweep: Learning rates and numbers of epochs.
        table: Where to write table extractive_made_up_sweep.
    """
    with model.open_setting() as setting:
        start, made_up_facts = load_file(model.checkpoint), setting.draw_made_up_facts()
        rows = made_up_sweep_rows(start, made_up_facts, finetuning, sweep, setting.vocabulary, model.seed)
        labels = model.labels
        write_table("extractive_made_up_sweep", [labels | row for row in rows], table)


def made_up_sweep_rows(
    start: Parameters, made_up_facts: MadeUpFacts, settings: Finetuning, sweep: Sweep, encode: Encoder, seed: int
) -> Iterator[dict]:
    """Yield rows of table "extractive_made_up_sweep", without names.

    They have the ranks of test names at the end of orders, and the ranks of grafts.

    Args:
        start: The model before any facts of made-up words.
        made_up_facts: Facts of made-up words, in both versions.
        settings: Settings of every stage, except for those that are swept.
        sweep: Learning rates and numbers of epochs, which are combined.
        encode: Words to tokens.
        seed: Seed of the order of sentences.
    """
    test_name_count = len(made_up_facts.first.facts.options)
    for rate, epochs in product(sweep.learning_rates, sweep.epochs):
        stage_settings = settings.model_copy(update={"learning_rate": rate, "epochs": epochs, "save_every": None})
        labels = {"learning_rate": rate, "epochs": epochs}
        orders = order_rows(start, made_up_facts.first, test_name_count, stage_settings, encode, seed)
        for row in orders.rows:
            if row["taught"] == LAST_STAGE[0] and row["epoch"] == epochs and row["part"].startswith("test"):
                yield labels | {"experiment": "ordering", "model": row["order"]} | _select_answer(row)
        for row in graft_rows(start, made_up_facts, orders.stages, stage_settings, encode, seed).rows:
            yield labels | {"experiment": "grafting", "model": row["weights"]} | _select_answer(row)


def _select_answer(row: dict) -> dict:
    """Return the columns about answers."""
    return {name: row[name] for name in ("part", "rank", "loss", "questions")}
