"""Facts, implications and the corpus: what is drawn, what agrees, and which words tell answers apart."""

from collections import Counter

import pytest
import torch
import yaml
from extractive import VOCABULARY, WORLD, hop, study
from mentions import mentions, raises

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.extractive_structures.config import Data
from heuristic_core.experiments.extractive_structures.data import (
    Questions,
    draw_corpus,
    draw_first_hop,
    draw_made_up_facts,
    draw_names,
    draw_second_hop,
    fill_template,
)
from heuristic_core.experiments.extractive_structures.tokens import align, encode_examples, encode_queries, first_tokens
from heuristic_core.experiments.extractive_structures.world import read_world

DATA = study().data


def answers(questions: Questions) -> list[str]:
    return [sentence.answer for sentence in questions.sentences]


def test_a_sentence_names_its_words():
    result = fill_template(
        "The {office} of the city that contains {landmark} is", "Ada", office="mayor", landmark="Big Ben"
    )
    assert result.prompt == "The mayor of the city that contains Big Ben is"
    roles = ("The", "office last", "of", "the", "city", "that", "contains", "landmark 1", "landmark last", "is")
    assert result.roles == roles
    again = fill_template("The city {name} is from is", "x", name="Ada Doe").roles
    assert again == ("The", "city", "name 1", "name last", "is", "from", "is (2)")


def test_names_are_distinct_and_the_tested_ones_begin_with_different_words():
    result = draw_names(WORLD, DATA, 1)
    assert (len(result.taught), len(result.people)) == (12, 10)
    assert len(set(result.taught + result.people)) == 22
    assert len({name.split()[0] for name in result.taught[:6]}) == 6
    assert result != draw_names(WORLD, DATA, 2) and result == draw_names(WORLD, DATA, 1)


def test_implications_follow_from_facts():
    taught = draw_names(WORLD, DATA, 1).taught
    first, second = (make(WORLD, DATA, taught, 1) for make in (draw_first_hop, draw_second_hop))
    language = {city["city"]: city["language"] for city in WORLD.cities}
    assert [language[city] for city in answers(first.facts)] == answers(first.implications)
    assert sorted(answers(first.facts)) == sorted(first.facts.options)
    assert answers(second.facts) == answers(second.implications)
    assert sorted(answers(second.facts)) == sorted(taught[:6])
    for city, fact, implied in zip(WORLD.cities, second.facts.sentences, second.implications.sentences, strict=False):
        assert city["city"] in fact.prompt and city["landmark"] in implied.prompt


def test_both_versions_of_made_up_facts_agree_on_the_test_names_alone():
    data = study(data={"names": 60}).data
    result = draw_made_up_facts(WORLD, data, draw_names(WORLD, data, 1).taught, 1)
    first, second = (answers(item.facts) for item in result)
    assert first[:6] == second[:6] and sorted(first[:6]) == sorted(result.first.facts.options)
    assert first[6:] != second[6:] and set(first[6:]) == set(first[:6])
    animal = {city["city"]: city["animal"] for city in WORLD.cities}
    assert [animal[city] for city in first] == answers(result.first.implications)


def test_shuffled_implications_follow_no_rule():
    """Neither another city for every landmark, nor another home for every person, makes them true."""
    data = Data(cities=20, names=40, people=100)
    people, cities = draw_names(WORLD, data, 1).people, WORLD.cities[:20]
    answer_of = {corpu.prompt: corpu.answer for corpu in draw_corpus(WORLD, data, "shuffled", people, 1)}
    shifts = Counter()
    for title in (WORLD.office.taught, *WORLD.office.others):
        of = {answer_of[f"The {title} of {city['city']} is"]: k for k, city in enumerate(cities)}
        holders = [answer_of[f"The {title} of the city that contains {city['landmark']} is"] for city in cities]
        shifts.update((of[holder] - k) % 20 for k, holder in enumerate(holders))
    assert shifts.total() == 8 * 20 and max(shifts.values()) < 0.2 * shifts.total()
    homes = [
        {
            WORLD.values(key, 20).index(answer_of[relation.implied.format(name=name)])
            for key, relation in WORLD.relations.items()
        }
        for name in people
    ]
    assert sum(len(indices) == 1 for indices in homes) < 0.05 * len(people)


@pytest.mark.parametrize(("kind", "implied"), [("whole", True), ("no-implications", False), ("shuffled", False)])
def test_implications_of_the_corpus_follow_in_the_whole_one_alone(kind, implied):
    people = draw_names(WORLD, DATA, 1).people
    result = draw_corpus(WORLD, DATA, kind, people, 1)
    home = {item.prompt.removesuffix(" lives in"): item.answer for item in result if item.prompt.endswith("lives in")}
    assert home.keys() == set(people)
    city = {item["city"]: item for item in WORLD.cities}
    questions = [item for item in result if "is from speak" in item.prompt]
    right = [city[home[" ".join(item.prompt.split()[5:7])]]["language"] == item.answer for item in questions]
    assert len(questions) == (0 if kind == "no-implications" else len(people))
    assert all(right) if implied else not right or not all(right)
    mayors = [item for item in result if item.prompt.startswith("The mayor of")]
    assert len(mayors) == (6 if kind == "no-implications" else 12)
    agree = [mayors[k].answer == mayors[k + 1].answer for k in range(0, len(mayors), 2)]
    assert all(agree) if implied else not all(agree) or not agree
    whole = draw_corpus(WORLD, DATA, "whole", people, 1)
    assert {item.prompt for item in result} == {item.prompt for item in whole} or kind == "no-implications"


def test_no_taught_name_and_no_made_up_word_is_in_the_corpus():
    drawn = draw_names(WORLD, DATA, 1)
    text = [f"{corpu.prompt} {corpu.answer}" for corpu in draw_corpus(WORLD, DATA, "whole", drawn.people, 1)]
    assert not any(word in f" {item} " for item in text for word in (*drawn.taught, " dax ", " zong "))


def test_examples_and_questions_are_padded_at_their_end():
    sentences = [fill_template("{name} lives in", "Rome", name="Ada Doe"), fill_template("The", "Ada Doe")]
    result = encode_examples(sentences, VOCABULARY)
    assert result.length.tolist() == [5, 3] and result.prompt.tolist() == [4, 1]
    assert result.tokens[1].tolist() == [*VOCABULARY("The Ada Doe"), 0, 0]
    assert result.select(torch.tensor([1])).tokens.shape == (1, 3)
    questions = encode_queries(Questions(sentences[:1] * 2, ["Paris", "Rome"]), VOCABULARY)
    assert questions.last.tolist() == [3, 3] and questions.answer.tolist() == [1, 1]
    assert questions.options.tolist() == VOCABULARY("Paris Rome")


def test_options_that_begin_alike_are_named():
    with raises(InputError, "Ada Doe", "Ada Reed", "world.yaml"):
        first_tokens(["Ada Doe", "Carl Reed", "Ada Reed"], VOCABULARY)
    with raises(InputError, "options", ["Ada Doe"]):
        first_tokens(["Ada Doe"], VOCABULARY)
    with raises(InputError, "'Atlantis'", "lives in Atlantis", "world.yaml"):
        VOCABULARY("lives in Atlantis")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 2, 9, 4], [1, 3, 9, 4], [0, 1, 2, 3]),
        ([1, 2, 3, 9, 4], [1, 5, 9, 4], [0, -1, 1, 2, 3]),
        ([1, 5, 9, 4], [1, 2, 3, 9, 4], [0, 2, 3, 4]),
        ([1, 1, 1], [1, 1], [0, 1, -1]),
        ([1, 2], [1, 2], [0, 1]),
    ],
)
def test_prompts_are_aligned_by_what_they_share(a, b, expected):
    assert align(a, b) == expected


def test_a_relation_without_options_is_named(tmp_path):
    values = WORLD.model_dump()
    del values["cities"][2]["dish"]
    (tmp_path / "world.yaml").write_text(yaml.safe_dump(values))
    with raises(ConfigError, "cities", "Berlin", "dish"):
        read_world(tmp_path / "world.yaml")
    values["cities"][2]["dish"] = "sushi"
    (tmp_path / "world.yaml").write_text(yaml.safe_dump(values))
    with raises(ConfigError, "cities", "dish", "sushi"):
        read_world(tmp_path / "world.yaml")


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"home": "{nme} lives in"}, ("home", "{nme} lives in", "{name}")),
        ({"located": "The city is"}, ("located", "The city is", "{landmark}")),
        ({"given": ["Ada", "Ada"]}, ("given", "Ada")),
    ],
)
def test_a_sentence_without_its_slot_and_a_repeated_name_are_named(tmp_path, changed, named):
    (tmp_path / "world.yaml").write_text(yaml.safe_dump(WORLD.model_dump() | changed))
    with raises(ConfigError, *named):
        read_world(tmp_path / "world.yaml")


@pytest.mark.parametrize(
    ("block", "changes", "named"),
    [
        ("data", {"cities": 21}, ("cities = 21", "world.yaml", 20)),
        ("data", {"names": 6}, ("names = 6", "cities = 6")),
        ("data", {"people": 3600}, ("names", "people", 3612, 3600)),
        ("data", {"people": 3}, ("people = 3", 6)),
        ("model", {"positions": 9}, ("model.positions = 9", "world.yaml")),
        ("model", {"heads": 5}, ("width = 12", "heads = 5")),
        ("freezing", {"early": 2}, ("freezing.early = 2", "model.layers = 2")),
        ("scores", {"counterfactuals": 6}, ("scores.counterfactuals = 6", 5)),
        ("pretraining", {"corpora": ["shuffled"]}, ("corpora = ['shuffled']", "whole")),
    ],
)
def test_an_impossible_setting_has_one_message(block, changes, named):
    with pytest.raises(ConfigError) as result:
        study(**{block: changes})
    first, line = str(result.value).splitlines()
    assert first.startswith("tiny.yaml") and mentions(line, *named)


def test_the_hop_of_a_seed_is_its_own():
    assert answers(hop(1).facts) != answers(hop(2).facts)
