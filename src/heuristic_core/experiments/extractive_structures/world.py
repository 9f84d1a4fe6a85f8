"""Cities, relations, names and sentence templates of facts, read from `world.yaml`."""

from functools import cache
from pathlib import Path
from string import Formatter
from typing import Annotated

from pydantic import Field, model_validator

from heuristic_core.config.blocks import Block
from heuristic_core.config.reading import read_config, validate

WORLD_FILE = Path(__file__).with_name("world.yaml")
WordList = Annotated[list[str], Field(min_length=1)]


class Relation(Block):
    """Two templates with the same answer: `stated` names a city, `implied` names what identifies the city."""

    stated: str
    implied: str


class Office(Relation):
    """Offices of a city.

    Attributes:
        taught: The office that taught facts are about.
        others: Further offices in the corpus of pre-training.
    """

    taught: str
    others: list[str]


class MadeUp(Block):
    """Templates of sentences about words that are missing from the corpus of pre-training."""

    fact: str
    implication: str


class World(Block):
    """All words and templates of facts.

    Attributes:
        relations: Templates by relation.
        home: Template: where a person lives.
        located: Template: the city that contains a landmark.
        office: Templates: who holds an office.
        made_up: Templates with made-up words.
        cities: For each city its name (`city`), an `animal`, and a value of every relation.
        given: Given names.
        family: Family names.
    """

    relations: Annotated[dict[str, Relation], Field(min_length=1)]
    home: str
    located: str
    office: Office
    made_up: MadeUp
    cities: Annotated[list[dict[str, str]], Field(min_length=2)]
    given: WordList
    family: WordList

    @model_validator(mode="after")
    def _check_slots(self):
        required = {"home": (self.home, "name"), "located": (self.located, "landmark")}
        required |= {f"made_up.{key}": (getattr(self.made_up, key), "name") for key in MadeUp.model_fields}
        for key, relation in self.relations.items():
            required |= {f"relations.{key}.stated": (relation.stated, "city")}
            required |= {f"relations.{key}.implied": (relation.implied, "name")}
        required |= {"office.stated": (self.office.stated, "office", "city")}
        required |= {"office.implied": (self.office.implied, "office", "landmark")}
        for key, (text, *names) in required.items():
            if sorted(list_slots(text)) != sorted(names):
                raise ValueError(f"{key} = {text!r}: it must have {' and '.join(f'{{{name}}}' for name in names)} once")
        for key in ("given", "family"):
            values = getattr(self, key)
            if repeated := sorted({value for value in values if values.count(value) > 1}):
                raise ValueError(f"{key}: {repeated[0]} is listed twice; list every name once")
        return self

    @model_validator(mode="after")
    def _check_options(self):
        keys = ["city", "animal", *self.relations, *list_slots(self.located, self.office.implied)]
        for key in dict.fromkeys(keys):
            if key == "office":
                continue
            if absent := [city.get("city", "?") for city in self.cities if not city.get(key)]:
                raise ValueError(f"cities: {', '.join(absent)} without {key!r}; every city needs one as an option")
            values = [city[key] for city in self.cities]
            if repeated := sorted({value for value in values if values.count(value) > 1}):
                raise ValueError(f"cities: {key} = {repeated[0]!r} is listed twice; give every city a different one")
        return self

    def max_words(self) -> int:
        """Return the number of words of the longest sentence with its answer."""
        words = {key: max(len(city[key].split()) for city in self.cities) for key in self.cities[0]}
        words |= {"name": 2, "office": max(len(title.split()) for title in (self.office.taught, *self.office.others))}
        answers = {self.home: "city", self.located: "city", self.office.stated: "name", self.office.implied: "name"}
        answers |= {self.made_up.fact: "city", self.made_up.implication: "animal"}
        answers |= {
            text: key for key, relation in self.relations.items() for text in (relation.stated, relation.implied)
        }
        return max(
            len(text.split()) + sum(words[slot] - 1 for slot in list_slots(text)) + words[answer]
            for text, answer in answers.items()
        )

    def values(self, key: str, count: int) -> list[str]:
        """Return a value of the first cities, in order.

        Args:
            key: Name of the value.
            count: Number of cities.
        """
        return [city[key] for city in self.cities[:count]]


def list_slots(*sentences: str) -> list[str]:
    """Return the names of the slots of templates, in order."""
    return [name for text in sentences for _, name, _, _ in Formatter().parse(text) if name]


def read_world(path: Path) -> World:
    """Read a world from a file.

    Raises:
        ConfigError: If the file is invalid; the message has one line per error.
    """
    return validate(World, read_config(path), str(path))


@cache
def load_world() -> World:
    """Return the world of `world.yaml`."""
    return read_world(WORLD_FILE)
