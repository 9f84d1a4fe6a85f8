"""Languages of single sentences: labels follow the grammar, and the heuristic fails where it should."""

from collections import Counter

import pytest
from pydantic import ValidationError

from heuristic_core.config.generated import LONGEST, GeneratedTask, UnlabelledText
from heuristic_core.config.subset_names import COUNTER_EXAMPLE_NAMES, GENERATED_NAMES
from heuristic_core.data.languages import agreement, parity, roles
from heuristic_core.data.languages.registry import LANGUAGES
from heuristic_core.data.languages.word_sampler import is_held_out_combination
from heuristic_core.data.languages.words import PEOPLE, PREPOSITIONS
from heuristic_core.data.pairs import make_pair_key
from heuristic_core.data.sentences import load_sentences

SENTENCES = ("agreement", "roles")
PLURALS = {f"{noun}s" for noun in PEOPLE}
PRESENT = {agreement.inflect_verb(verb, n) for verb in agreement.TRANSITIVE + agreement.INTRANSITIVE for n in (0, 1)}


def task(language, **changes):
    settings = {"train_pairs": 2000, "counter_examples": 0.2, "id_pairs": 200, "pairs_per_subcase": 100}
    settings |= {"counter_example_weights": [1.0] * len(COUNTER_EXAMPLE_NAMES[language]), "max_length": 24}
    return GeneratedTask(name=language, source="generated", language=language, seed=3, **settings | changes)


def is_noun(word):
    return word in PEOPLE or word in PLURALS


def read_agreement(words):
    """Return whether the verb is plural, and whether the subject and the nearest noun are, read from the sentence."""
    verb = max(k for k, word in enumerate(words) if word in PRESENT)
    nouns = [k for k in range(verb) if is_noun(words[k])]
    # The subject is the first noun without a preposition before its article, and not within a relative clause.
    subject = next(k for k in nouns if k < 2 or (words[k - 2] not in PREPOSITIONS and words[k - 3] not in PREPOSITIONS))
    is_plural = words[subject] in PLURALS or "and" in words[:verb]
    return not words[verb].endswith("s"), is_plural, words[nouns[-1]] in PLURALS


@pytest.mark.parametrize("subset", GENERATED_NAMES["agreement"])
def test_the_verb_is_right_or_wrong_for_its_subject_and_the_nearest_noun_misleads_where_it_should(subset):
    rows = [r for r in LANGUAGES["agreement"].generate_evaluation(task("agreement")) if r["subset"] == subset]
    assert rows
    for row in rows:
        verb, subject, nearest = read_agreement(row["sentence1"].split())
        assert row["label"] == int(verb == subject), row["sentence1"]
        assert (nearest == subject) != subset.startswith("n_"), row["sentence1"]
        assert row["label"] == {"n": 1, "e": 0}.get(subset[0], row["label"])


def test_every_noun_before_the_verb_of_a_plain_prepositional_counterpart_has_one_number():
    rows = LANGUAGES["agreement"].generate_evaluation(task("agreement"))
    for words in (row["sentence1"].split() for row in rows if row["subset"] == "e_prepositional"):
        verb = max(k for k, word in enumerate(words) if word in PRESENT)
        assert len({word in PLURALS for word in words[:verb] if is_noun(word)}) == 1


@pytest.mark.parametrize("subset", GENERATED_NAMES["roles"])
def test_the_marked_noun_acts_or_not_and_the_first_noun_misleads_where_it_should(subset):
    rows = [r for r in LANGUAGES["roles"].generate_evaluation(task("roles")) if r["subset"] == subset]
    assert {row["label"] for row in rows} == {"n": {1}, "e": {0}}.get(subset[0], {0, 1})
    for row in rows:
        words = row["sentence1"].split()
        marked = row["sentence1"][row["target_start"] : row["target_end"]]
        first = next(word for word in words if is_noun(word))
        predicted = 0 if marked == first else 1
        assert (predicted == row["label"]) != subset.startswith("n_"), row["sentence1"]


def test_counter_examples_of_roles_also_mark_their_agent_in_training():
    rows = LANGUAGES["roles"].generate_training(task("roles"))
    passives = [row for row in rows if row["template"] == "n_passive"]
    for row in passives:
        words = row["sentence1"].split()
        by = words.index("by")
        is_after = row["target_start"] > len(" ".join(words[:by]))
        assert row["label"] == (0 if is_after else 1)
    assert {row["label"] for row in passives} == {0, 1}


@pytest.mark.parametrize("language", SENTENCES)
def test_training_has_the_stated_share_of_counter_examples_and_both_labels(language):
    rows = LANGUAGES[language].generate_training(task(language))
    templates = Counter(row["template"] for row in rows)
    share = sum(n for name, n in templates.items() if name.startswith("n_")) / len(rows)
    assert share == pytest.approx(0.2, abs=0.03)
    assert set(COUNTER_EXAMPLE_NAMES[language]) <= set(templates)
    assert sum(row["label"] for row in rows) / len(rows) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_labels_and_words_are_those_of_the_configuration(language):
    made, settings = LANGUAGES[language], task(language, **{"counter_examples": 0.0} if language == "parity" else {})
    rows = [*made.generate_training(settings), *made.generate_evaluation(settings)]
    assert list(made.subsets) == settings.subsets == list(dict.fromkeys(row["subset"] for row in rows))[1:]
    assert list(made.labels) == settings.labels
    words = {word for row in rows for key in ("sentence1", "sentence2") for word in (row[key] or "").split()}
    assert words == set(made.words)
    counter_examples = [name for name, (group, _) in made.subsets.items() if group == "ood"]
    assert counter_examples == list(COUNTER_EXAMPLE_NAMES[language])
    assert all((row["sentence2"] is None) == (settings.sentence_count == 1) for row in rows)
    assert all((row["target_end"] is not None) == settings.has_target for row in rows)


@pytest.mark.parametrize("language", SENTENCES)
def test_clauses_of_evaluation_are_held_out_of_training(language):
    rows = LANGUAGES[language].generate_training(task(language, counter_examples=0.0))
    simple = [row["sentence1"].split() for row in rows if row["template"].split(":")[0] in ("simple", "intransitive")]
    clauses = {(noun_of(words), stem_of(words)) for words in simple if stem_of(words)}
    assert clauses and not any(is_held_out_combination(*clause) for clause in clauses)


@pytest.mark.parametrize("language", SENTENCES)
def test_no_evaluation_sentence_is_a_training_sentence(language):
    settings = task(language, train_pairs=20_000)
    keys = [
        {make_pair_key(row) for row in rows}
        for rows in (LANGUAGES[language].generate_training(settings), LANGUAGES[language].generate_evaluation(settings))
    ]
    assert not keys[0] & keys[1]


def noun_of(words):
    return next(word.removesuffix("s") for word in words if is_noun(word))


def stem_of(words):
    """Return the stem of an intransitive verb, or None if the clause is transitive."""
    stems = {agreement.inflect_verb(verb, n): verb for verb in agreement.INTRANSITIVE for n in (0, 1)}
    stems |= {f"{verb}{ending}": verb for verb in roles.INTRANSITIVE for ending in ("ed", "ing")}
    return next((stems[word] for word in words if word in stems), None)


@pytest.mark.parametrize("language", SENTENCES)
def test_text_for_pre_training_is_grammatical_and_has_as_many_counter_examples(language):
    text = task(language).text
    rows = LANGUAGES[language].generate_unlabelled(text, 500, 0.5, "a")
    assert rows == LANGUAGES[language].generate_unlabelled(text, 500, 0.5, "a")
    assert {row["sentence2"] for row in rows} == {None}
    if language == "agreement":
        for row in rows:
            verb, subject, _ = read_agreement(row["sentence1"].split())
            assert verb == subject, row["sentence1"]


def test_parities_are_those_of_the_hidden_positions_and_unseen_sequences_are_unseen():
    settings = task("parity", train_pairs=300, id_pairs=300, counter_examples=0.0)
    made = LANGUAGES["parity"]
    train, evaluation = made.generate_training(settings), made.generate_evaluation(settings)
    positions = parity.draw_positions(3)
    for row in train + evaluation:
        ones = [row["sentence1"].split()[position] for position in positions].count("one")
        assert row["label"] == ones % 2
    seen = {row["sentence1"] for row in train}
    assert len(seen) == 300
    assert {r["sentence1"] for r in evaluation if r["subset"] == "in_domain"} == seen
    unseen = [row for row in evaluation if row["group"] != "id"]
    assert len(unseen) == 200 and not seen & {row["sentence1"] for row in unseen}
    assert {(row["group"], row["label"]) for row in unseen} == {("ood", 1), ("ood-entailment", 0)}


def test_random_labels_change_the_labels_of_training_alone():
    plain, drawn = (load_sentences(task("overlap", random_labels=random)) for random in (False, True))
    assert plain.evaluation == drawn.evaluation
    assert [row | {"label": 0} for row in plain.train] == [row | {"label": 0} for row in drawn.train]
    same = sum(a["label"] == b["label"] for a, b in zip(plain.train, drawn.train, strict=True)) / len(plain.train)
    assert same == pytest.approx(1 / 3, abs=0.05)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"counter_examples": 0.1}, "counter_examples"),
        ({"id_pairs": 301}, "id_pairs"),
        ({"train_pairs": 2**16 - 300}, "pairs_per_subcase"),
        ({"max_length": 17}, "max_length"),
    ],
)
def test_settings_of_parity_that_leave_no_sequences_are_refused(changes, named):
    settings = {"train_pairs": 300, "id_pairs": 300, "counter_examples": 0.0}
    with pytest.raises(ValidationError, match=named):
        task("parity", **settings | changes)


@pytest.mark.parametrize("language", LONGEST)
def test_the_stated_length_is_that_of_the_longest_sentence(language):
    settings = task(language, train_pairs=20_000, counter_examples=0.0 if language == "parity" else 0.2)
    rows = LANGUAGES[language].generate_training(settings)
    assert max(len(row["sentence1"].split()) for row in rows) + 2 == LONGEST[language]


def test_weights_and_artefacts_fit_the_language():
    with pytest.raises(ValidationError, match="n_short_passive"):
        task("roles", counter_example_weights=[1.0, 1.0])
    with pytest.raises(ValidationError, match="artefacts"):
        task("agreement", artefacts={"one_new_word": True})
    assert task("overlap").text == UnlabelledText()
