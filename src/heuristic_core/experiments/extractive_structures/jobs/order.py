"""Orders and grafts of made-up facts."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Output, Unfinished
from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.grafting import graft_rows
from heuristic_core.experiments.extractive_structures.jobs.seed_model import SeedModel
from heuristic_core.experiments.extractive_structures.localisation import localisation_rows
from heuristic_core.experiments.extractive_structures.ordering import order_rows
from heuristic_core.tables.parquet import write_table


def teach_orders(
    model: SeedModel,
    finetuning: Finetuning,
    ordering: Output,
    grafting: Output,
    localisation: Output,
    unfinished: Unfinished,
) -> None:
    """Teach facts of made-up words and their implications in several orders; graft and localise what is learned.

    Args:
        model: The pre-trained model.
        finetuning: Settings of teaching.
        ordering: Where to write table extractive_ordering.
        grafting: Where to write table extractive_grafting.
        localisation: Where to write table extractive_localisation.
        unfinished: Folder of the state from which the job resumes.
    """
    with model.open_setting() as setting:
        start = load_file(model.checkpoint)
        made_up_facts, encode, test_name_count = setting.draw_made_up_facts(), setting.vocabulary, model.data.cities
        orders = order_rows(start, made_up_facts.first, test_name_count, finetuning, encode, model.seed, unfinished)
        grafts = graft_rows(start, made_up_facts, orders.stages, finetuning, encode, model.seed, unfinished)
        models = grafts.fact_weights, grafts.implication_weights
        localisations = localisation_rows(
            *models, made_up_facts.first, test_name_count, finetuning, encode, model.seed, unfinished
        )
        labels = model.labels
        write_table("extractive_ordering", [labels | row for row in orders.rows], ordering)
        write_table("extractive_grafting", [labels | row for row in grafts.rows], grafting)
        write_table("extractive_localisation", [labels | row for row in localisations], localisation)
