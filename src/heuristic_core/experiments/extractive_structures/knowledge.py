"""What implications need and nobody teaches: a model that was pre-trained elsewhere must know it."""

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.extractive_structures.answers import mean_rank
from heuristic_core.experiments.extractive_structures.config import Data
from heuristic_core.experiments.extractive_structures.data import Questions, sentence
from heuristic_core.experiments.extractive_structures.model import Parameters
from heuristic_core.experiments.extractive_structures.tokens import Encode, asked, first_tokens
from heuristic_core.experiments.extractive_structures.world import World


def needed(world: World, data: Data) -> dict[str, Questions]:
    """By hop: what language people of a city speak; which city a landmark is in."""
    relation, cities = world.relations["language"], world.cities[: data.cities]
    spoken = [sentence(relation.stated, city["language"], city=city["city"]) for city in cities]
    located = [sentence(world.located, city["city"], landmark=city["landmark"]) for city in cities]
    return {
        "first": Questions(spoken, world.values("language", data.cities)),
        "second": Questions(located, world.values("city", data.cities)),
    }


def check_options(world: World, data: Data, encode: Encode) -> None:
    """Raises InputError, which names both, where two answers of a city's relation begin with one token. Names of people
    are told apart when they are drawn."""
    for key in ("city", "animal", *world.relations):
        first_tokens(world.values(key, data.cities), encode)


def check_known(p: Parameters, world: World, data: Data, encode: Encode, most: float, where: str) -> dict[str, float]:
    """Mean ranks by hop. Raises InputError where one is above `most`. where: of the model, for the message."""
    found = {}
    for hop, questions in needed(world, data).items():
        found[hop] = rank = mean_rank(p, asked(questions, encode))
        if not rank <= most:
            first = questions.sentences[0]
            raise InputError(
                f"{where} does not know what implications of the {hop} hop need: asked {data.cities} questions, as "
                f"{first.prompt!r} ({first.answer}), its right answers have mean rank {rank:.3g} among {data.cities}, "
                f"and pretrained.known_rank = {most:g}. Use another model or revision, lower data.cities, or raise "
                "pretrained.known_rank to measure the model as it is"
            )
    return found
