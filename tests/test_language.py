"""The generated language: what it promises of labels, overlap, held-out combinations and seeds."""

import re
from collections import Counter
from math import sqrt
from random import Random

import pytest
from mentions import raises

from heuristic_core.data.languages.overlap import grammar, vocabulary
from heuristic_core.data.languages.overlap.generation import (
    LANGUAGE,
    SUBSETS,
    generate_evaluation_pairs,
    generate_training_pairs,
)
from heuristic_core.data.languages.overlap.labelled import CONTRADICTION, ENTAILMENT, NEUTRAL
from heuristic_core.data.languages.overlap.vocabulary import INTRANSITIVE, LEXICON, NOUNS, TRANSITIVE
from heuristic_core.data.languages.word_sampler import WordSampler, is_held_out_combination
from heuristic_core.tables.parquet import read_table, write_table

N = 20_000
SHARE = 0.03
WEIGHTS = (2, 2, 2, 2, 1.5, 1, 1, 0.7, 0.7, 0.5, 0.5)
OOD = [name for name, (group, _) in SUBSETS.items() if group == "ood"]
MIRRORS = [name for name, (group, _) in SUBSETS.items() if group == "ood-entailment"]


@pytest.fixture(scope="module")
def train():
    return generate_training_pairs(N, SHARE, WEIGHTS, seed=0)


@pytest.fixture(scope="module")
def evaluation():
    return generate_evaluation_pairs(450, 200, seed=0)


def counter_examples(rows):
    """Training rows made by a rule of an ood subset, their hypotheses unchanged."""
    return [row for row in rows if row["template"] in OOD]


def words(row):
    return row["sentence1"].split(), row["sentence2"].split()


def assert_share(count, n, p):
    """`count` of `n` is within five binomial standard deviations of n * p."""
    assert abs(count - n * p) < 5 * sqrt(n * p * (1 - p))


# ---- reading sentences, independently of the rules that made them

TAGS = dict.fromkeys(NOUNS, "n") | dict.fromkeys(TRANSITIVE, "t") | dict.fromkeys(INTRANSITIVE, "i")
TAGS |= dict.fromkeys(vocabulary.PREPOSITIONS, "p") | {"who": "w", "and": "&", "were": "x", "by": "y"}
# A noun phrase: bare, or with a phrase, another noun, or a relative clause after it.
PHRASE = r"(n(?:pn|&n|wi|wtn|wnt)?)"
SENTENCE = re.compile(rf"{PHRASE}(?:(t){PHRASE}|(i)|(xty){PHRASE})")


def facts(sentence):
    """The simple clauses that a sentence of one main clause asserts: (subject, verb, object or "")."""
    place = sentence.index("in") if "in" in sentence else len(sentence)
    sentence = [word for word in sentence[:place] if word not in vocabulary.ADJECTIVES]
    parsed = SENTENCE.fullmatch("".join(TAGS[word] for word in sentence))
    assert parsed, sentence
    asserted = set()

    def heads(group):
        start, stop = parsed.span(group)
        head, *modifier = sentence[start:stop]
        match parsed[group][1:]:
            case "&n":
                return [head, modifier[1]]
            case "wi":
                asserted.add((head, modifier[1], ""))
            case "wtn":
                asserted.add((head, modifier[1], modifier[2]))
            case "wnt":
                asserted.add((modifier[1], modifier[2], head))
        return [head]

    for subject in heads(1):
        if parsed[4]:
            asserted.add((subject, sentence[parsed.start(4)], ""))
        elif parsed[2]:
            asserted |= {(subject, sentence[parsed.start(2)], b) for b in heads(3)}
        else:
            asserted |= {(agent, sentence[parsed.start(5) + 1], subject) for agent in heads(6)}
    return asserted


def is_held_out(clause):
    """Whether a simple clause, active or passive, is one of the held-out combinations."""
    ((subject, verb, other),) = facts(clause)
    return is_held_out_combination(subject, verb, other)


def main_clause(premise):
    """The clause around which a lexical-overlap rule built its premise: modifiers and second conjuncts left out."""
    tags = "".join(TAGS[word] for word in premise)
    core = re.sub(r"(?<=n)(pn|&n|wnt)", lambda m: "-" * len(m[0]), tags)
    return [word for word, tag in zip(premise, core, strict=True) if tag != "-"]


def core_clause(row):
    """The clause of a counter-example that the held-out rule speaks of."""
    premise, hypothesis = words(row)
    return main_clause(premise) if row["template"].startswith("ln_") else hypothesis


def is_contiguous(part, whole):
    return any(whole[i : i + len(part)] == part for i in range(len(whole)))


# ---- shares


def test_counter_examples_have_their_share_and_weights(train):
    made = counter_examples(train)
    assert_share(len(made), N, SHARE)
    by_rule = Counter(row["template"] for row in made)
    for name, weight in zip(OOD, WEIGHTS, strict=True):
        assert_share(by_rule[name], len(made), weight / sum(WEIGHTS))
    assert {row["label"] for row in made} == {NEUTRAL}


def test_labels_are_balanced_apart_from_counter_examples(train):
    labels = Counter(row["label"] for row in train)
    for label in range(3):
        assert_share(labels[label], N, (1 - SHARE) / 3 + (SHARE if label == NEUTRAL else 0))


def test_one_neutral_pair_in_ten_has_the_premise_of_a_counter_example(train):
    rules = [row["template"].split(",")[0] for row in train if row["template"].endswith("new words")]
    assert_share(sum(rule in OOD for rule in rules), len(rules), 0.1)


def test_a_zero_weight_or_share_leaves_a_rule_out():
    only_swap = generate_training_pairs(300, 1.0, [1] + [0] * 10, seed=0)
    assert {row["template"] for row in only_swap} == {"ln_so_swap"}
    assert not counter_examples(generate_training_pairs(300, 0.0, WEIGHTS, seed=0))


@pytest.mark.parametrize("weights", [[], [1.0] * 10, [1.0] * 12])
def test_weights_of_the_wrong_length_are_refused(weights):
    with raises(ValueError, len(weights), "ln_so_swap"):
        generate_training_pairs(1, SHARE, weights, seed=0)


def test_subsets_come_in_order_with_their_size_group_family_and_labels(evaluation):
    assert Counter(row["subset"] for row in evaluation) == dict.fromkeys(SUBSETS, 200) | {"in_domain": 450}
    assert list(dict.fromkeys(row["subset"] for row in evaluation)) == list(SUBSETS)
    for i, row in enumerate(evaluation):
        assert (row["group"], row["family"]) == SUBSETS[row["subset"]]
        assert row["label"] == {"id": i % 3, "ood": 1, "ood-entailment": 0}[row["group"]]


# ---- overlap


def test_overlap_is_full_wherever_the_heuristic_is_put_to_the_test(train, evaluation):
    for row in counter_examples(train) + [row for row in evaluation if row["group"] != "id"]:
        premise, hypothesis = words(row)
        new = set(hypothesis) - set(premise)
        assert new <= ({"were", "by"} if row["template"] == "le_passive" else set()), row


def test_neutral_hypotheses_have_one_to_three_new_words_and_contradictions_never_has(train, evaluation):
    for row in train + [row for row in evaluation if row["group"] == "id"]:
        premise, hypothesis = words(row)
        new = set(hypothesis) - set(premise) - {"were", "by"}
        if row["label"] == NEUTRAL and row["template"] not in OOD:
            assert 1 <= len(new) <= 3, row
        elif row["label"] == CONTRADICTION:
            assert new <= {"never"}, row
            assert (premise + hypothesis).count("never") == 1, row
        else:
            assert not new, row


def test_subsequences_and_constituents_are_contiguous(evaluation):
    for row in evaluation:
        premise, hypothesis = words(row)
        if row["family"] in ("subsequence", "constituent") and row["subset"] != "se_modified":
            assert is_contiguous(hypothesis, premise), row
        elif row["subset"] == "se_modified":
            rest = iter(premise)
            assert all(word in rest for word in hypothesis), row


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("name", OOD + MIRRORS)
def test_every_rule_keeps_its_promises(name, held):
    """The label is true to the sentences' structure, no noun comes twice, and clauses obey the held-out rule."""
    rng, rule = Random(0), getattr(grammar, name)
    for _ in range(200):
        premise, hypothesis = map(list, rule(WordSampler(rng, held, LEXICON)))
        nouns = [word for word in premise if word in NOUNS]
        assert len(set(nouns)) == len(nouns), premise
        clause = main_clause(premise) if name.startswith("ln_") else hypothesis
        assert is_held_out(clause) == held, premise
        if SUBSETS[name][1] != "constituent":
            assert (facts(hypothesis) <= facts(premise)) == (name in MIRRORS), (premise, hypothesis)


CONDITION = r"(?:if|unless)"
ATTITUDE = r"\w+ (?:believed|claimed|hoped) that"
NOT_ASSERTED = {
    "cn_if": rf"{CONDITION} {{h}} , .*|{CONDITION} .* , {{h}}|{{h}} {CONDITION} .*|.* {CONDITION} {{h}}",
    "cn_verb": rf"{ATTITUDE} {{h}}",
    "cn_adv": r"(?:probably|perhaps) {h}",
    "cn_or": r"{h} or .*|.* or {h}",
}
ASSERTED = {
    "ce_because": r"(?:because|since|when|after) (?:{h} , .*|.* , {h})|{h} (?:because|since|when|after) .*"
    r"|.* (?:because|since|when|after) {h}",
    "ce_verb": r"\w+ (?:knew|forgot) that {h}",
    "ce_adv": r"(?:certainly|clearly) {h}",
    "ce_and": r"{h} and .*|.* and {h}",
    "ce_scope": rf"{{h}} and (?:{CONDITION}|probably|perhaps|{ATTITUDE}) .*"
    rf"|(?:probably|perhaps|{ATTITUDE}) \w+ \w+ and {{h}}|(?:because|since|when|after) .* or .* , {{h}}",
}


def test_constituents_stand_under_the_cue_word_that_decides(evaluation):
    forms = NOT_ASSERTED | ASSERTED
    rows = [row for row in evaluation if row["family"] == "constituent"]
    assert {row["subset"] for row in rows} == set(forms)
    for row in rows:
        assert re.fullmatch(forms[row["subset"]].format(h=row["sentence2"]), row["sentence1"]), row


# ---- held-out combinations


def test_a_fifth_of_all_combinations_is_held_out_whichever_noun_comes_first():
    combinations = [(a, v, b) for a in NOUNS for b in NOUNS if a < b for v in TRANSITIVE]
    assert_share(sum(is_held_out_combination(*c) for c in combinations), len(combinations), 0.2)
    assert all(is_held_out_combination(a, v, b) == is_held_out_combination(b, v, a) for a, v, b in combinations)


def test_training_clauses_are_never_held_out_and_evaluation_clauses_always(train, evaluation):
    for rows, held in ((train, False), (evaluation, True)):
        entailed = [row for row in rows if row["label"] == ENTAILMENT]
        assert entailed and all(is_held_out(words(row)[1]) == held for row in entailed)
        made = counter_examples(rows)
        made = [row for row in made if row["subset"] in ("train", *OOD)]
        assert made and all(is_held_out(core_clause(row)) == held for row in made)


def test_no_evaluation_pair_stands_in_training(train, evaluation):
    def pairs(rows):
        return {(row["sentence1"], row["sentence2"]) for row in rows}

    assert pairs(train).isdisjoint(pairs(evaluation))


# ---- vocabulary and lengths


def test_the_vocabulary_has_every_word_once_after_the_special_tokens(train, evaluation):
    assert LANGUAGE.vocabulary[:5] == ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]")
    assert list(LANGUAGE.vocabulary[5:]) == sorted(set(LANGUAGE.vocabulary[5:]))
    used = {word for row in train + evaluation for sentence in words(row) for word in sentence}
    assert used == set(LANGUAGE.vocabulary[5:])


def test_pairs_fit_the_models_positions(train, evaluation):
    assert max(sum(map(len, words(row))) for row in train + evaluation) + 3 <= 24


# ---- determinism


def test_the_same_seed_gives_the_same_rows_and_another_seed_others():
    assert generate_training_pairs(500, SHARE, WEIGHTS, 1) == generate_training_pairs(500, SHARE, WEIGHTS, 1)
    assert generate_training_pairs(500, SHARE, WEIGHTS, 1) != generate_training_pairs(500, SHARE, WEIGHTS, 2)
    first, again, other = (generate_evaluation_pairs(30, 20, seed) for seed in (1, 1, 2))
    assert first == again
    for name in SUBSETS:
        assert [r for r in first if r["subset"] == name] != [r for r in other if r["subset"] == name]


def test_a_subset_does_not_depend_on_what_is_drawn_before_it():
    few, many = generate_evaluation_pairs(3, 20, seed=1), generate_evaluation_pairs(300, 40, seed=1)
    for name in OOD + MIRRORS:
        assert [r for r in few if r["subset"] == name] == [r for r in many if r["subset"] == name][:20]


def test_rows_are_a_sentences_table(tmp_path):
    for rows in (generate_training_pairs(20, SHARE, WEIGHTS, 0), generate_evaluation_pairs(3, 2, 0)):
        write_table("sentences", rows, tmp_path / "rows.parquet")
        back = read_table(tmp_path / "rows.parquet")
        assert list(back["sentence2"]) == [row["sentence2"] for row in rows]
        assert list(back["label"]) == [row["label"] for row in rows]
