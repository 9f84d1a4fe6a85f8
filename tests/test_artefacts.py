"""Hypothesis-only artefacts of the generated language: their shares, what they change, and what stays as it was."""

from math import sqrt

import pytest

from heuristic_core.config.generated import Artefacts
from heuristic_core.data.languages.overlap.artefacts import infer_form_label
from heuristic_core.data.languages.overlap.generation import SUBSETS, generate_evaluation_pairs, generate_training_pairs
from heuristic_core.data.languages.overlap.labelled import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL
from heuristic_core.data.languages.overlap.vocabulary import ADJECTIVES, INTRANSITIVE, NOUNS, PLACES, TRANSITIVE

N = 4_000
COUNTER_EXAMPLES = 0.01
WEIGHTS = (2, 2, 2, 2, 1.5, 1, 1, 0.7, 0.7, 0.5, 0.5)
OOD = [name for name, (group, _) in SUBSETS.items() if group == "ood"]
OWN = Artefacts(added_modifiers=0.65, one_new_word=True, shared_modifiers=0.08)  # every premise is a pair's own
FOREIGN = OWN.model_copy(update={"foreign_premises": 0.15})
PLANTED = FOREIGN.model_copy(update={"planted_words": 0.5})
CONTENT = {*NOUNS, *TRANSITIVE, *INTRANSITIVE}


def training(artefacts=None, n=N):
    return generate_training_pairs(n, COUNTER_EXAMPLES, WEIGHTS, 0, *([artefacts] if artefacts else []))


@pytest.fixture(scope="module")
def plain():
    return training()


@pytest.fixture(scope="module")
def own_rows():
    return training(OWN)


@pytest.fixture(scope="module")
def foreign():
    return training(FOREIGN)


def words(row):
    return row["sentence1"].split(), row["sentence2"].split()


def modifiers(sentence):
    return [word for word in sentence if word in ADJECTIVES or word in PLACES]


def bare(sentence):
    """The sentence without adjectives and places."""
    return [word for word in sentence if word not in ADJECTIVES and word not in PLACES and word != "in"]


def assert_share(rows, of, p):
    """`rows` are the share p of the rows `of`, within five binomial standard deviations."""
    assert of and abs(len(rows) - len(of) * p) <= 5 * sqrt(len(of) * p * (1 - p))


def with_label(rows, label):
    """Pairs of the class `label` that are no counter-examples."""
    return [row for row in rows if row["label"] == label and row["template"] not in OOD]


def differing(before, after):
    """Pairs of rows of equal number that differ."""
    return [(old, new) for old, new in zip(before, after, strict=True) if old != new]


# ---- shares


def test_modifiers_have_their_shares_of_neutral_pairs_and_of_entailments(own_rows):
    for label, share in ((NEUTRAL, 0.65), (ENTAILMENT, 0.08), (CONTRADICTION, 0)):
        rows = with_label(own_rows, label)
        assert_share([row for row in rows if modifiers(words(row)[1])], rows, share)


def test_other_neutral_pairs_have_one_new_word(own_rows, plain):
    for rows, counts in ((own_rows, {1}), (plain, {1, 2, 3})):
        replaced = [row for row in with_label(rows, NEUTRAL) if row["template"].endswith("new words")]
        new = [set(hypothesis) - set(premise) - {"were", "by"} for premise, hypothesis in map(words, replaced)]
        assert {len(item) for item in new} == counts


def test_foreign_premises_have_their_share_of_the_pairs_whose_form_tells_the_label(own_rows, foreign):
    form_only = [
        row for row in own_rows if infer_form_label(tuple(words(row)[1])) == row["label"] and row["template"] not in OOD
    ]
    changed = differing(own_rows, foreign)
    assert all(old in form_only for old, _ in changed)
    assert_share(changed, form_only, 0.15)


def test_planted_words_have_their_share_of_foreign_premises_and_replace_one_word(foreign):
    long = [
        row
        for row in foreign
        if row["template"].endswith("foreign premise") and len(CONTENT.intersection(words(row)[1])) == 3
    ]
    planted = differing(foreign, training(PLANTED))
    assert all(old in long for old, _ in planted)
    assert_share(planted, long, 0.5)
    for old, new in planted:
        (before, hypothesis), (after, same) = words(old), words(new)
        ((lost, result),) = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
        assert hypothesis == same and result in hypothesis and result not in before
        assert any({lost, result} <= {*item} for item in (NOUNS, TRANSITIVE, INTRANSITIVE))


def test_shares_of_zero_and_one_leave_nothing_to_chance(plain):
    assert training(Artefacts()) == plain
    every = training(Artefacts(added_modifiers=1, shared_modifiers=1, foreign_premises=1), n=500)
    assert all(modifiers(words(row)[1]) for label in (ENTAILMENT, NEUTRAL) for row in with_label(every, label))
    assert all(row["template"].endswith("foreign premise") for row in with_label(every, NEUTRAL))


def test_a_higher_share_keeps_the_artefacts_of_a_lower_share(own_rows, foreign):
    more = OWN.model_copy(update={"added_modifiers": 0.9, "shared_modifiers": 0.3})
    assert not [old for old, _ in differing(own_rows, training(more)) if "modifier" in old["template"]]
    more = FOREIGN.model_copy(update={"foreign_premises": 0.2})
    changed = differing(foreign, training(more))
    assert changed and not [old for old, _ in changed if old["template"].endswith("foreign premise")]


# ---- labels


def test_own_premises_keep_true_labels(plain, own_rows):
    """Without modifiers, an entailment is the pair without artefacts. Its hypothesis has a modifier that the premise
    has at the same noun or clause. A neutral hypothesis has one word that the premise lacks."""
    for old, new in differing(plain, own_rows):
        (was, _), (premise, hypothesis) = words(old), words(new)
        assert old["label"] == new["label"]
        if new["template"].endswith("modifier in both"):
            assert new["label"] == ENTAILMENT
            assert [bare(sentence) for sentence in words(new)] == [bare(sentence) for sentence in words(old)]
            (modifier,) = modifiers(hypothesis)
            for sentence in (premise, hypothesis):
                assert sentence.count(modifier) == 1
            if modifier in ADJECTIVES:  # of the same noun
                assert premise[premise.index(modifier) + 1] == hypothesis[hypothesis.index(modifier) + 1]
            else:  # of the same clause
                clause = hypothesis[-3:]
                assert any(premise[i : i + 3] == clause for i in range(len(premise)))
        else:
            assert (new["label"], premise) == (NEUTRAL, was)
            assert len(set(hypothesis) - set(premise) - {"were", "by", "in"}) == 1


def test_counter_examples_and_contradictions_stay_as_they_were(plain, own_rows, foreign):
    assert not with_label([old for old, _ in differing(plain, own_rows)], CONTRADICTION)
    assert not [old for old, _ in differing(plain, foreign) if old["template"] in OOD]


def test_a_foreign_premise_leaves_the_hypothesis_and_the_label(own_rows, foreign):
    for old, new in differing(own_rows, foreign):
        assert (new["sentence2"], new["label"]) == (old["sentence2"], old["label"])
        assert "never" not in words(new)[0]


# ---- evaluation


def test_only_the_in_domain_set_has_artefacts():
    before, after = generate_evaluation_pairs(300, 20, 1), generate_evaluation_pairs(300, 20, 1, PLANTED)
    assert before[300:] == after[300:] and before[300]["subset"] != "in_domain"
    assert len(differing(before[:300], after[:300])) > 100
    assert [row["label"] for row in after[:300]] == [0, 1, 2] * 100


def test_form_gives_most_labels_and_never_in_the_premise_gives_more():
    """The majority label of a form is the form's: right on 0.92, 0.65 and 0.7 of the three labels' pairs, by the shares
    above and the 0.7 of contradictions whose hypothesis is negated. "never" tells the other contradictions, too."""
    rows = [row for row in generate_evaluation_pairs(N, 1, 1, FOREIGN) if row["subset"] == "in_domain"]
    forms = [infer_form_label(tuple(words(row)[1])) for row in rows]
    for form in range(len(LABELS)):
        labels = [row["label"] for row, row_form in zip(rows, forms, strict=True) if row_form == form]
        assert max(range(len(LABELS)), key=labels.count) == form
    right = [row for row, form in zip(rows, forms, strict=True) if form == row["label"]]
    assert_share(right, rows, (0.92 + 0.65 + 0.7) / 3)
    negated = [row for row in rows if "never" in words(row)[0]]
    assert all(row["label"] == CONTRADICTION for row in negated)
    assert_share(right + negated, rows, (0.92 + 0.65 + 1) / 3)


def test_pairs_with_artefacts_fit_the_models_positions():
    rows = training(PLANTED) + generate_evaluation_pairs(300, 1, 1, PLANTED)
    assert max(sum(map(len, words(row))) for row in rows) + 3 <= 24
