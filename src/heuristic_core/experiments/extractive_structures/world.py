"""The cities, relations, names and sentences that facts are made of: the file `world.yaml`."""

from functools import cache
from pathlib import Path
from string import Formatter
from typing import Annotated

from pydantic import Field, model_validator

from heuristic_core.config.blocks import Block
from heuristic_core.config.reading import checked, read_values

WORLD = Path(__file__).with_name("world.yaml")
Words = Annotated[list[str], Field(min_length=1)]


class Relation(Block):
    """Two sentences with one answer: `stated` names a city, `implied` names what leads to it."""

    stated: str
    implied: str


class Office(Relation):
    """An office of a city. taught: the office that facts are about; others: offices that pre-training has beside it."""

    taught: str
    others: list[str]


class MadeUp(Block):
    """Sentences about words that pre-training has not."""

    fact: str
    implication: str


class World(Block):
    """cities: each has its name (`city`), an `animal`, and a value of every relation."""

    relations: Annotated[dict[str, Relation], Field(min_length=1)]
    home: str
    located: str
    office: Office
    made_up: MadeUp
    cities: Annotated[list[dict[str, str]], Field(min_length=2)]
    given: Words
    family: Words

    @model_validator(mode="after")
    def _sentences_name_what_they_are_about(self):
        wanted = {"home": (self.home, "name"), "located": (self.located, "landmark")}
        wanted |= {f"made_up.{key}": (getattr(self.made_up, key), "name") for key in MadeUp.model_fields}
        for key, relation in self.relations.items():
            wanted |= {f"relations.{key}.stated": (relation.stated, "city")}
            wanted |= {f"relations.{key}.implied": (relation.implied, "name")}
        wanted |= {"office.stated": (self.office.stated, "office", "city")}
        wanted |= {"office.implied": (self.office.implied, "office", "landmark")}
        for key, (text, *names) in wanted.items():
            if sorted(slots(text)) != sorted(names):
                raise ValueError(f"{key} = {text!r}: it must have {' and '.join(f'{{{name}}}' for name in names)} once")
        for key in ("given", "family"):
            values = getattr(self, key)
            if repeated := sorted({value for value in values if values.count(value) > 1}):
                raise ValueError(f"{key}: {repeated[0]} comes twice; list every name once")
        return self

    @model_validator(mode="after")
    def _relations_have_options(self):
        needed = ["city", "animal", *self.relations, *slots(self.located, self.office.implied)]
        for key in dict.fromkeys(needed):
            if key == "office":
                continue
            if absent := [city.get("city", "?") for city in self.cities if not city.get(key)]:
                raise ValueError(f"cities: {', '.join(absent)} without {key!r}; every city needs one as an option")
            values = [city[key] for city in self.cities]
            if repeated := sorted({value for value in values if values.count(value) > 1}):
                raise ValueError(f"cities: {key} = {repeated[0]!r} comes twice; give every city another")
        return self

    def longest(self) -> int:
        """Words of the longest sentence with its answer, more than any model sees of it."""
        words = {key: max(len(city[key].split()) for city in self.cities) for key in self.cities[0]}
        words |= {"name": 2, "office": max(len(title.split()) for title in (self.office.taught, *self.office.others))}
        answers = {self.home: "city", self.located: "city", self.office.stated: "name", self.office.implied: "name"}
        answers |= {self.made_up.fact: "city", self.made_up.implication: "animal"}
        answers |= {text: key for key, one in self.relations.items() for text in (one.stated, one.implied)}
        return max(
            len(text.split()) + sum(words[slot] - 1 for slot in slots(text)) + words[answer]
            for text, answer in answers.items()
        )

    def values(self, key: str, count: int) -> list[str]:
        """What the first `count` cities have under `key`, in their order."""
        return [city[key] for city in self.cities[:count]]


def slots(*sentences: str) -> list[str]:
    """The names in braces in sentences, in their order."""
    return [name for text in sentences for _, name, _, _ in Formatter().parse(text) if name]


def read_world(path: Path) -> World:
    """The world of a file. Raises ConfigError with one line per fault."""
    return checked(World, read_values(path), str(path))


@cache
def world() -> World:
    """The world of `world.yaml`."""
    return read_world(WORLD)
