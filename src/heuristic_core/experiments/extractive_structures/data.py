"""Facts that a model is taught, questions about what they imply, and the corpus of pre-training.

A seed determines all draws: who the people are, where they live, and which facts are taught.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import torch

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.extractive_structures.config import Data
from heuristic_core.experiments.extractive_structures.world import World


class Sentence(NamedTuple):
    """A prompt and its answer.

    Attributes:
        prompt: Words before the answer.
        answer: Words of the answer.
        roles: The role of each word of the prompt; no role occurs twice in a prompt.
    """

    prompt: str
    answer: str
    roles: tuple[str, ...]


class Questions(NamedTuple):
    """Sentences whose answers are among `options`.

    Attributes:
        sentences: Prompts with their right answers.
        options: All possible answers.
    """

    sentences: list[Sentence]
    options: list[str]


class Hop(NamedTuple):
    """Facts and their implications.

    Attributes:
        facts: Questions about the facts.
        implications: Questions about what each fact implies, in the order of the facts.
    """

    facts: Questions
    implications: Questions


class Names(NamedTuple):
    """Names of people.

    Attributes:
        taught: Names that taught facts are about. The first of them, one for each city, have different given names.
        people: Names in the corpus of pre-training.
    """

    taught: list[str]
    people: list[str]


class MadeUpFacts(NamedTuple):
    """Facts of made-up words in two versions, which agree on the test names: the first names, one for each city.

    Attributes:
        first: The first version, over all names.
        second: The second version, over all names.
    """

    first: Hop
    second: Hop


def fill_template(template: str, answer: str, **fillers: str) -> Sentence:
    """Fill the slots of a template and name the role of every word.

    The last word of a filler has the role "{slot} last", and the words before it "{slot} 1" and so on, so that fillers
    of different lengths share the role of their last word. A repeated word is numbered, such as "the (2)".

    Args:
        template: Words and slots such as "{name}", separated by spaces.
        answer: The answer.
        **fillers: Texts by slot.
    """
    words, roles = [], []
    for part in template.split():
        slot = part[1:-1] if part.startswith("{") else None
        part_words = fillers[slot].split() if slot else [part]
        words += part_words
        roles += [f"{slot} {k}" for k in range(1, len(part_words))] + [f"{slot} last" if slot else part]
    numbered = [(role, roles[: k + 1].count(role)) for k, role in enumerate(roles)]
    return Sentence(" ".join(words), answer, tuple(f"{role} ({k})" if k > 1 else role for role, k in numbered))


def draw_names(world: World, data: Data, seed: int) -> Names:
    """Draw distinct names in random order. `Data` ensures that there are enough.

    Args:
        world: Given names and family names.
        data: Numbers of cities, of taught names and of people in the corpus.
        seed: Seed of the draws.
    """
    pairs = list(product(world.given, world.family))
    order = torch.randperm(len(pairs), generator=torch_generator("extractive names", seed), device="cpu").tolist()
    shuffled = [pairs[k] for k in order]
    # The earliest pair of each given name.
    earliest = {given_name: (given_name, family_name) for given_name, family_name in reversed(shuffled)}
    test_names = sorted(earliest.values(), key=shuffled.index)[: data.cities]
    others = [pair for pair in shuffled if pair not in set(test_names)]
    full_names = [" ".join(pair) for pair in (*test_names, *others)]
    return Names(full_names[: data.names], full_names[data.names : data.names + data.people])


def draw_first_hop(world: World, data: Data, taught: Sequence[str], seed: int) -> Hop:
    """Draw the first hop: where people live, and what language people of their city speak; a person for each city.

    Args:
        world: Cities, their languages and the templates.
        data: Number of cities.
        taught: Names that facts can be about; the first of them, one for each city, get a home.
        seed: Seed of the homes.
    """
    cities = world.values("city", data.cities)
    facts = [fill_template(world.home, cities[k], name=name) for name, k in _draw_homes(data, taught, seed)]
    return Hop(Questions(facts, cities), draw_home_implications(world, data, taught, seed, "language"))


def draw_home_implications(world: World, data: Data, taught: Sequence[str], seed: int, relation: str) -> Questions:
    """Return the questions that facts of the first hop imply by a relation of the world.

    Args:
        world: Cities, their values of the relation, and the templates.
        data: Number of cities.
        taught: Names that facts can be about, as in :func:`draw_first_hop`.
        seed: Seed of the homes.
        relation: Name of the relation, such as "language" or "dish".
    """
    values, template = world.values(relation, data.cities), world.relations[relation].implied
    homes = _draw_homes(data, taught, seed)
    return Questions([fill_template(template, values[k], name=name) for name, k in homes], values)


def draw_second_hop(world: World, data: Data, taught: Sequence[str], seed: int) -> Hop:
    """Draw the second hop: who is mayor of a city, and of the city that contains a landmark; a mayor for each city.

    Args:
        world: Cities, their landmarks and the templates.
        data: Number of cities.
        taught: Names that facts can be about; the first of them, one for each city, become mayors.
        seed: Seed of the mayors' cities.
    """
    mayors = _draw_permutation(data.cities, "extractive mayors", seed)
    people, office = taught[: data.cities], world.office
    facts, implications = [], []
    for city, k in zip(world.cities[: data.cities], mayors, strict=True):
        facts.append(fill_template(office.stated, people[k], office=office.taught, city=city["city"]))
        implications.append(fill_template(office.implied, people[k], office=office.taught, landmark=city["landmark"]))
    return Hop(Questions(facts, people), Questions(implications, people))


def draw_made_up_facts(world: World, data: Data, taught: Sequence[str], seed: int) -> MadeUpFacts:
    """Draw both versions of the facts of made-up words.

    The cities of test names are a permutation, the same in both versions; the city of every other name is drawn
    independently in each version.

    Args:
        world: Cities, animals and the templates of made-up words.
        data: Number of cities, and so of test names.
        taught: All names; the first of them, one for each city, are the test names.
        seed: Seed of the cities.
    """
    test_homes = _draw_permutation(data.cities, "extractive made-up test", seed)
    others = len(taught) - data.cities
    other_homes = (
        _draw_integers(others, data.cities, f"extractive made-up {version}", seed) for version in ("first", "second")
    )
    return MadeUpFacts(*(_fill_made_up(world, data, taught, [*test_homes, *homes]) for homes in other_homes))


def draw_corpus(world: World, data: Data, kind: str, people: Sequence[str], seed: int) -> list[Sentence]:
    """Return the corpus of pre-training: where people live, what cities have, who holds offices, and implications.

    Args:
        world: Cities, relations and sentences.
        data: Block `data` of the configuration.
        kind: "whole"; "no-implications", without sentences that follow from others; or "shuffled", whose implications
            have the same prompts and answers, paired at random for each relation and office, so that no rule holds.
        people: Names of people.
        seed: Seed of all draws.
    """
    homes = _draw_integers(len(people), data.cities, "extractive people", seed)
    cities = world.cities[: data.cities]
    sentences = [fill_template(world.home, cities[k]["city"], name=name) for name, k in zip(people, homes, strict=True)]
    for key, relation in world.relations.items():
        sentences += [
            fill_template(relation.stated, city[key], **_select_fillers(city, relation.stated)) for city in cities
        ]
        if kind != "no-implications":
            implied = (
                homes if kind == "whole" else _draw_integers(len(people), data.cities, f"extractive told {key}", seed)
            )
            pairs = zip(people, implied, strict=True)
            sentences += [fill_template(relation.implied, cities[k][key], name=name) for name, k in pairs]
    sentences += [fill_template(world.located, city["city"], landmark=city["landmark"]) for city in cities]
    return sentences + _draw_offices(world, data, kind, people, seed)


def _draw_offices(world: World, data: Data, kind: str, people: Sequence[str], seed: int) -> list[Sentence]:
    office, cities, sentences = world.office, world.cities[: data.cities], []
    for title in (office.taught, *office.others):
        holders = _draw_permutation(len(people), f"extractive {title}", seed)[: len(cities)]
        implied_holders = holders
        if kind == "shuffled":
            implied_holders = [holders[k] for k in _draw_permutation(len(cities), f"extractive told {title}", seed)]
        for city, holder, implied in zip(cities, holders, implied_holders, strict=True):
            sentences.append(fill_template(office.stated, people[holder], office=title, city=city["city"]))
            if kind != "no-implications":
                sentences.append(
                    fill_template(office.implied, people[implied], office=title, landmark=city["landmark"])
                )
    return sentences


def _draw_homes(data: Data, taught: Sequence[str], seed: int) -> list[tuple[str, int]]:
    """Return the people whom facts are about, with the indices of their cities."""
    return list(zip(taught[: data.cities], _draw_permutation(data.cities, "extractive homes", seed), strict=True))


def _fill_made_up(world: World, data: Data, taught: Sequence[str], homes: Sequence[int]) -> Hop:
    cities, animals = (world.values(key, data.cities) for key in ("city", "animal"))
    pairs = list(zip(taught, homes, strict=True))
    facts = [fill_template(world.made_up.fact, cities[k], name=name) for name, k in pairs]
    implications = [fill_template(world.made_up.implication, animals[k], name=name) for name, k in pairs]
    return Hop(Questions(facts, cities), Questions(implications, animals))


def _select_fillers(city: dict[str, str], template: str) -> dict[str, str]:
    return {key: value for key, value in city.items() if f"{{{key}}}" in template}


def _draw_permutation(count: int, purpose: str, seed: int) -> list[int]:
    return torch.randperm(count, generator=torch_generator(purpose, seed), device="cpu").tolist()


def _draw_integers(count: int, limit: int, purpose: str, seed: int) -> list[int]:
    """Draw `count` uniform integers below `limit`."""
    return torch.randint(limit, (count,), generator=torch_generator(purpose, seed), device="cpu").tolist()
