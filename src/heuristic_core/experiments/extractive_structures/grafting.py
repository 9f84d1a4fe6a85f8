"""Test whether the weight change that implications teach can be grafted onto a model that knows other facts.

As in the authors' code (gradient_grafting.py), all sentences are about the names after the test names.
"""

from pathlib import Path
from typing import NamedTuple

from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.data import MadeUpFacts, Questions
from heuristic_core.experiments.extractive_structures.freezing import answer_rows
from heuristic_core.experiments.extractive_structures.ordering import Weights, split_parts
from heuristic_core.experiments.extractive_structures.parameters import Parameters, select_weights
from heuristic_core.experiments.extractive_structures.tokens import Encoder, encode_examples, encode_queries
from heuristic_core.experiments.extractive_structures.training import StageSaving, teach


class Grafts(NamedTuple):
    """Results of grafting.

    Attributes:
        rows: Rows of table "extractive_grafting", without names.
        fact_weights: Parameters of a model that was taught the first version of the facts.
        implication_weights: Parameters of the same model after it was also taught what these facts imply.
    """

    rows: list[dict]
    fact_weights: Weights
    implication_weights: Weights


def graft_rows(
    start: Parameters,
    made_up_facts: MadeUpFacts,
    stages: dict[str, list[Weights]],
    settings: Finetuning,
    encode: Encoder,
    seed: int,
    unfinished: Path | None = None,
) -> Grafts:
    """Rank answers of a model that was taught the second version of the facts, with grafted weight changes.

    The grafted change is what learning the first version's implications changed: in a model that knew the first version
    ("graft"), in a model that knew neither version ("control"), or no change ("none").

    Args:
        start: The model before any facts of made-up words.
        made_up_facts: Both versions of the facts.
        stages: `stages` of :func:`ordering.order_rows`, which taught the first version: they include the model that
            knows its facts, and the model that learned its implications without its facts.
        settings: Settings of every stage.
        encode: Words to tokens.
        seed: Seed of the order of sentences.
        unfinished: Folder of saved states, from which an interrupted run resumes.
    """
    test_name_count = len(made_up_facts.first.facts.options)
    first, second = (split_parts(version, test_name_count) for version in made_up_facts)
    saved, trained = unfinished and StageSaving(unfinished, []), select_weights(start, settings.made_up_weights)

    def teach_questions(model: Parameters, questions: Questions, purpose: str) -> Weights:
        examples = encode_examples(questions.sentences, encode)
        return teach(model, examples, settings, (purpose, seed), trained, unfinished=saved)

    fact_weights, ignorant = stages["facts first"][0], stages["implications first"][0]
    implication_weights = teach_questions(fact_weights, first["implications"], "implications of known facts")
    recipient = teach_questions(start, second["facts"], "second facts")
    grafts = {"none": (start, start), "graft": (implication_weights, fact_weights), "control": (ignorant, start)}
    parts = {
        "facts": encode_queries(second["facts"], encode),
        "implications": encode_queries(second["implications"], encode),
        "first implications": encode_queries(first["implications"], encode),
    }
    rows = [
        {"weights": weights} | row
        for weights, (end, begin) in grafts.items()
        for row in answer_rows(_apply_graft(recipient, end, begin), parts)
    ]
    return Grafts(rows, fact_weights, implication_weights)


def _apply_graft(recipient: Parameters, end: Weights, begin: Weights) -> Weights:
    """Return the recipient's weights plus the change from `begin` to `end`."""
    return {name: value + (end[name] - begin[name]) for name, value in recipient.items()}
