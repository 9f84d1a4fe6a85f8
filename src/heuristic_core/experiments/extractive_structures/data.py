"""Facts that a model is taught, the questions that they imply, and the corpus of pre-training.

A seed names all draws: who the people are, where they live, and which facts are taught.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import torch

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.extractive_structures.config import Data
from heuristic_core.experiments.extractive_structures.world import World


class Sentence(NamedTuple):
    """prompt: words before the answer. roles: what each of these words is, a name of its own within the prompt."""

    prompt: str
    answer: str
    roles: tuple[str, ...]


class Questions(NamedTuple):
    """Sentences whose answers are among `options`."""

    sentences: list[Sentence]
    options: list[str]


class Hop(NamedTuple):
    """Facts and, in the same order, what each of them implies."""

    facts: Questions
    implications: Questions


class Names(NamedTuple):
    """taught: of facts; the first words of the first of them, one for each city, differ. people: of the corpus."""

    taught: list[str]
    people: list[str]


class MadeUp(NamedTuple):
    """The facts of made-up words, in two versions that agree on the first names, one for each city (the test names).

    first, second: over all names.
    """

    first: Hop
    second: Hop


def sentence(template: str, answer: str, **fillers: str) -> Sentence:
    """`template` with its slots filled. A filler's last word has the role "{slot} last", the words before it
    "{slot} 1" and so on: fillers of several words and of one agree in their last. A word that comes again has its
    number, such as "the (2)"."""
    words, roles = [], []
    for part in template.split():
        slot = part[1:-1] if part.startswith("{") else None
        inside = fillers[slot].split() if slot else [part]
        words += inside
        roles += [f"{slot} {k}" for k in range(1, len(inside))] + [f"{slot} last" if slot else part]
    numbered = [(role, roles[: k + 1].count(role)) for k, role in enumerate(roles)]
    return Sentence(" ".join(words), answer, tuple(f"{role} ({k})" if k > 1 else role for role, k in numbered))


def names(world: World, data: Data, seed: int) -> Names:
    """Distinct names in random order. Raises nothing: `Data` allows no more names than there are."""
    pairs = list(product(world.given, world.family))
    order = torch.randperm(len(pairs), generator=torch_generator("extractive names", seed), device="cpu").tolist()
    drawn = [pairs[k] for k in order]
    first = {given: (given, family) for given, family in reversed(drawn)}  # the earliest of each given name
    heads = sorted(first.values(), key=drawn.index)[: data.cities]
    rest = [pair for pair in drawn if pair not in set(heads)]
    found = [" ".join(pair) for pair in (*heads, *rest)]
    return Names(found[: data.names], found[data.names : data.names + data.people])


def first_hop(world: World, data: Data, taught: Sequence[str], seed: int) -> Hop:
    """Where people live, and what language people of their city speak: a person for each city."""
    cities = world.values("city", data.cities)
    facts = [sentence(world.home, cities[k], name=name) for name, k in _homes(data, taught, seed)]
    return Hop(Questions(facts, cities), implied_by_homes(world, data, taught, seed, "language"))


def implied_by_homes(world: World, data: Data, taught: Sequence[str], seed: int, relation: str) -> Questions:
    """What facts of the first hop imply by a relation of the world, such as "dish"."""
    values, asked = world.values(relation, data.cities), world.relations[relation].implied
    return Questions([sentence(asked, values[k], name=name) for name, k in _homes(data, taught, seed)], values)


def second_hop(world: World, data: Data, taught: Sequence[str], seed: int) -> Hop:
    """Who is mayor of a city, and who is mayor of the city that contains a landmark: a mayor for each city."""
    mayors = _permutation(data.cities, "extractive mayors", seed)
    people, office = taught[: data.cities], world.office
    facts, implied = [], []
    for city, k in zip(world.cities[: data.cities], mayors, strict=True):
        facts.append(sentence(office.stated, people[k], office=office.taught, city=city["city"]))
        implied.append(sentence(office.implied, people[k], office=office.taught, landmark=city["landmark"]))
    return Hop(Questions(facts, people), Questions(implied, people))


def made_up(world: World, data: Data, taught: Sequence[str], seed: int) -> MadeUp:
    """Facts of made-up words. Test names have the cities in random order, the others any city; the second version
    draws the others' cities again."""
    test = _permutation(data.cities, "extractive made-up test", seed)
    others = len(taught) - data.cities
    return MadeUp(
        *(
            _made_up(world, data, taught, [*test, *_draws(others, data.cities, f"extractive made-up {version}", seed)])
            for version in ("first", "second")
        )
    )


def corpus(world: World, data: Data, kind: str, people: Sequence[str], seed: int) -> list[Sentence]:
    """What a model is pre-trained on: where people live, what cities have, who holds offices, and what these imply.

    kind: whole; no-implications, which has no sentence that follows from others; shuffled, whose implications name what
    does not follow: the same sentences and answers, drawn for each relation and office, without a rule to learn
    from them.
    """
    homes = _draws(len(people), data.cities, "extractive people", seed)
    cities = world.cities[: data.cities]
    found = [sentence(world.home, cities[k]["city"], name=name) for name, k in zip(people, homes, strict=True)]
    for key, relation in world.relations.items():
        found += [sentence(relation.stated, city[key], **_known(city, relation.stated)) for city in cities]
        if kind != "no-implications":
            told = homes if kind == "whole" else _draws(len(people), data.cities, f"extractive told {key}", seed)
            found += [sentence(relation.implied, cities[k][key], name=n) for n, k in zip(people, told, strict=True)]
    found += [sentence(world.located, city["city"], landmark=city["landmark"]) for city in cities]
    return found + _offices(world, data, kind, people, seed)


def _offices(world: World, data: Data, kind: str, people: Sequence[str], seed: int) -> list[Sentence]:
    office, cities, found = world.office, world.cities[: data.cities], []
    for title in (office.taught, *office.others):
        holders = _permutation(len(people), f"extractive {title}", seed)[: len(cities)]
        told = holders
        if kind == "shuffled":
            told = [holders[k] for k in _permutation(len(cities), f"extractive told {title}", seed)]
        for city, holder, said in zip(cities, holders, told, strict=True):
            found.append(sentence(office.stated, people[holder], office=title, city=city["city"]))
            if kind != "no-implications":
                found.append(sentence(office.implied, people[said], office=title, landmark=city["landmark"]))
    return found


def _homes(data: Data, taught: Sequence[str], seed: int) -> list[tuple[str, int]]:
    """People whom facts are about, and the numbers of their cities."""
    return list(zip(taught[: data.cities], _permutation(data.cities, "extractive homes", seed), strict=True))


def _made_up(world: World, data: Data, taught: Sequence[str], homes: Sequence[int]) -> Hop:
    cities, animals = (world.values(key, data.cities) for key in ("city", "animal"))
    told = list(zip(taught, homes, strict=True))
    facts = [sentence(world.made_up.fact, cities[k], name=name) for name, k in told]
    implied = [sentence(world.made_up.implication, animals[k], name=name) for name, k in told]
    return Hop(Questions(facts, cities), Questions(implied, animals))


def _known(city: dict[str, str], template: str) -> dict[str, str]:
    return {key: value for key, value in city.items() if f"{{{key}}}" in template}


def _permutation(count: int, purpose: str, seed: int) -> list[int]:
    return torch.randperm(count, generator=torch_generator(purpose, seed), device="cpu").tolist()


def _draws(count: int, of: int, purpose: str, seed: int) -> list[int]:
    """`count` integers below `of`, any as likely as any other."""
    return torch.randint(of, (count,), generator=torch_generator(purpose, seed), device="cpu").tolist()
