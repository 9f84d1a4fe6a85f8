"""What implications require and nobody teaches: a model that was pre-trained elsewhere must know it."""

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.extractive_structures.answers import mean_rank
from heuristic_core.experiments.extractive_structures.config import Data
from heuristic_core.experiments.extractive_structures.data import Questions, fill_template
from heuristic_core.experiments.extractive_structures.parameters import Parameters
from heuristic_core.experiments.extractive_structures.tokens import Encoder, encode_queries, first_tokens
from heuristic_core.experiments.extractive_structures.world import World


def build_prerequisites(world: World, data: Data) -> dict[str, Questions]:
    """Return the questions on required knowledge by hop.

    First hop: the language of a city's people. Second hop: the city that contains a landmark.

    Args:
        world: Names and templates.
        data: Number of cities.
    """
    relation, cities = world.relations["language"], world.cities[: data.cities]
    language_facts = [fill_template(relation.stated, city["language"], city=city["city"]) for city in cities]
    landmark_facts = [fill_template(world.located, city["city"], landmark=city["landmark"]) for city in cities]
    return {
        "first": Questions(language_facts, world.values("language", data.cities)),
        "second": Questions(landmark_facts, world.values("city", data.cities)),
    }


def check_options(world: World, data: Data, encode: Encoder) -> None:
    """Check that the options of every relation begin with different tokens.

    Names of people are drawn such that their first tokens differ.

    Args:
        world: Values of every relation.
        data: Number of cities whose values are options.
        encode: Encodes a text as tokens.

    Raises:
        InputError: If two options begin with the same token; names both.
    """
    for key in ("city", "animal", *world.relations):
        first_tokens(world.values(key, data.cities), encode)


def check_prerequisites(
    p: Parameters, world: World, data: Data, encode: Encoder, max_rank: float, model_name: str
) -> dict[str, float]:
    """Check that a model has the knowledge that implications require.

    Args:
        p: Parameters of the model.
        world: Cities, relations and sentences.
        data: Block `data` of the configuration.
        encode: Words to tokens.
        max_rank: Highest mean rank that passes.
        model_name: Name of the model, for the message.

    Returns:
        Mean ranks by hop.

    Raises:
        InputError: If a mean rank exceeds `max_rank`.
    """
    mean_ranks = {}
    for hop, questions in build_prerequisites(world, data).items():
        mean_ranks[hop] = rank = mean_rank(p, encode_queries(questions, encode))
        if not rank <= max_rank:
            first = questions.sentences[0]
            raise InputError(
                f"{model_name} lacks knowledge that implications of the {hop} hop require: on {data.cities} questions "
                f"such as {first.prompt!r} ({first.answer}), the right answer has mean rank {rank:.3g} among "
                f"{data.cities} options; pretrained.known_rank = {max_rank:g}. Use another model or revision, lower "
                "data.cities, or raise pretrained.known_rank to measure this model anyway"
            )
    return mean_ranks
