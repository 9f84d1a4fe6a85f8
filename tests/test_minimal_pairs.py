"""Minimal pairs: those of the generated language rule by rule, and the nearest pairs of files."""

from random import Random

import numpy as np
import pytest
from archives import script
from mentions import mentions
from reduced import ROOT, STUDY

from heuristic_core.data.encode import encode
from heuristic_core.data.encoded import Encoded, Subset, pack_lists
from heuristic_core.data.languages.overlap import grammar
from heuristic_core.data.languages.overlap.counterparts import build_minimal_pairs, make_counterpart
from heuristic_core.data.languages.overlap.generation import generate_evaluation_pairs
from heuristic_core.data.languages.overlap.vocabulary import CONTENT_WORDS, LEXICON
from heuristic_core.data.languages.word_sampler import WordSampler
from heuristic_core.data.minimal_pairs import SWAP_SUBSET, count_changed_tokens, find_nearest_pairs, select_paired
from heuristic_core.data.pairs import SubsetRule
from heuristic_core.models.tokenizer import make_tokenizer

# Pairs, each with its label's other side: "premise => hypothesis", then what of it is exchanged for what.
BY_HAND = {
    "ln_so_swap": ("judges saw kings => kings saw judges", "judges saw kings => judges saw kings"),
    "ln_prep": ("judges near poets saw kings => poets saw kings", "judges near poets saw kings => judges saw kings"),
    "ln_rel": (
        "judges who poets met saw kings => judges met poets",
        "judges who poets met saw kings => poets met judges",
    ),
    "ln_passive": ("judges were saw by kings => judges saw kings", "judges were saw by kings => kings saw judges"),
    "ln_conj": ("judges and poets saw kings => judges saw poets", "judges and poets saw kings => judges saw kings"),
    "sn_pp": ("poets near judges slept => judges slept", "poets near judges slept => poets slept"),
    "sn_rel": ("poets who met judges slept => judges slept", "poets who met judges slept => poets slept"),
    "cn_if": ("judges slept unless kings ran => kings ran", "judges slept since kings ran => kings ran"),
    "cn_verb": ("poets hoped that judges slept => judges slept", "poets knew that judges slept => judges slept"),
    "cn_adv": ("perhaps judges slept => judges slept", "clearly judges slept => judges slept"),
    "cn_or": ("judges slept or kings ran => kings ran", "judges slept and kings ran => kings ran"),
    "le_prep": ("judges near poets saw kings => judges saw kings", "judges near poets saw kings => poets saw kings"),
    "le_rel": ("judges who slept saw kings => judges saw kings", "judges who slept saw kings => kings saw judges"),
    "le_passive": ("judges saw kings => kings were saw by judges", "judges saw kings => judges were saw by kings"),
    "le_conj": ("judges saw kings and poets => judges saw kings", "judges saw kings and poets => poets saw kings"),
    "se_modified": ("judges near poets slept => judges slept", "judges near poets slept => poets slept"),
    "se_adjunct": ("judges saw kings in parks => judges saw kings", "judges saw kings in parks => kings saw judges"),
    "ce_because": ("after judges slept , kings ran => kings ran", "unless judges slept , kings ran => kings ran"),
    "ce_verb": ("poets forgot that judges slept => judges slept", "poets claimed that judges slept => judges slept"),
    "ce_adv": ("certainly judges slept => judges slept", "probably judges slept => judges slept"),
    "ce_and": ("judges slept and kings ran => judges slept", "judges slept or kings ran => judges slept"),
    "ce_scope": (
        "poets hoped that judges slept and kings ran => kings ran",
        "poets hoped that judges slept and kings ran => judges slept",
    ),
}
OTHER_SIDE = {
    "cn_if": "ce_because",
    "cn_verb": "ce_verb",
    "cn_adv": "ce_adv",
    "cn_or": "ce_and",
    "sn_pp": "se_modified",
}
OTHER_SIDE |= {other: name for name, other in OTHER_SIDE.items() if other != "se_modified"}
OTHER_SIDE |= {"ln_so_swap": "identity", "ln_prep": "le_prep", "ln_conj": "le_conj", "ln_passive": "le_passive"}
OTHER_SIDE |= {"le_prep": "ln_prep", "sn_rel": "se_modified"}
WITHOUT = (
    "old judges slept => judges slept",
    "judges and kings slept => kings slept",
    "judges ran in parks => judges ran",
)


def parse_pair(text):
    return tuple(tuple(part.split()) for part in text.split(" => "))


def form(pair):
    """A pair with its content words numbered in the order in which they occur."""
    numbers = {}
    words = [word for part in pair for word in (*part, "=>")]
    return tuple(numbers.setdefault(word, f"{len(numbers)}") if word in CONTENT_WORDS else word for word in words)


@pytest.mark.parametrize("rule", BY_HAND)
def test_a_counterpart_turns_the_label_by_the_words_that_make_it(rule):
    pair, other = map(parse_pair, BY_HAND[rule])
    assert make_counterpart(rule, *pair) == other


def test_every_rule_of_the_evaluation_set_is_tried_by_hand():
    rules = [*grammar.COUNTER_EXAMPLES.values(), *grammar.ENTAILMENTS.values()]
    assert {rule.__name__ for of_family in rules for rule in of_family} == set(BY_HAND)


@pytest.mark.parametrize("rule", OTHER_SIDE)
def test_counterparts_are_pairs_that_the_other_rule_makes(rule):
    rng = Random(0)

    def drawn(name, count):
        return [getattr(grammar, name)(WordSampler(rng, held_out=True, lexicon=LEXICON)) for _ in range(count)]

    possible = {form(pair) for pair in drawn(OTHER_SIDE[rule], 5000)}
    assert all(form(make_counterpart(rule, *pair)) in possible for pair in drawn(rule, 30))


@pytest.mark.parametrize("text", WITHOUT)
def test_where_no_exchange_turns_the_label_there_is_no_counterpart(text):
    assert make_counterpart("se_modified", *parse_pair(text)) is None


def test_a_transitive_clause_outside_the_scope_has_no_counterpart():
    pair = parse_pair("judges saw kings and perhaps poets slept => judges saw kings")
    assert make_counterpart("ce_scope", *pair) is None


def encoded_rows(rows, **more):
    names = dict.fromkeys((row["subset"], row["group"], row["family"]) for row in rows)
    rules = [SubsetRule(*name, (0, 1, 2) if name[1] == "id" else (0, 1, 1)) for name in names]
    tokenizer = make_tokenizer(STUDY.model, STUDY.task)
    evaluation = encode(rows, tokenizer, STUDY.task.max_length, rules)
    return evaluation, build_minimal_pairs(rows, evaluation, tokenizer, STUDY.task.max_length)


def test_minimal_pairs_of_the_language_are_as_long_and_differ_in_one_or_two_words():
    rows = generate_evaluation_pairs(30, 20, seed=1)
    evaluation, minimal = encoded_rows(rows)
    changed = count_changed_tokens(evaluation, minimal)
    assert minimal.subsets == evaluation.subsets and (minimal.labels == evaluation.labels).all()
    assert (minimal.offsets == evaluation.offsets).all() and (minimal.types == evaluation.types).all()
    share = {s.name: (changed[s.start : s.stop] > 0).mean() for s in evaluation.subsets}
    whole = set(share) - {"in_domain", "se_modified", "ce_scope"}
    assert share["in_domain"] == 0 and {share[name] for name in whole} == {1}
    assert 0 < share["se_modified"] < 1 and 0 < share["ce_scope"] < 1
    assert set(changed) == {0, 1, 2}


def test_pairs_and_their_minimal_pairs_are_thinned_and_chosen_alike():
    evaluation, minimal = encoded_rows(generate_evaluation_pairs(30, 20, seed=1))
    both = select_paired(evaluation.subsample(7, seed=3), minimal.subsample(7, seed=3))
    names = [subset.name for subset in both.pairs.subsets]
    assert "in_domain" not in names and set(names) == set(BY_HAND)
    assert (count_changed_tokens(both.pairs, both.minimal) > 0).all() and len(both.positions) == len(both.pairs)
    thinned = evaluation.subsample(7, seed=3)
    assert (thinned.take(both.positions).ids == both.pairs.ids).all()
    assert both.pairs.subsets[-1].stop == len(both.pairs) and both.minimal.subsets == both.pairs.subsets
    swapped = select_paired(evaluation, minimal, [SWAP_SUBSET])
    assert [subset.name for subset in swapped.pairs.subsets] == [SWAP_SUBSET] and len(swapped.pairs) == 20
    for ids, types, special in zip(
        *(swapped.minimal.split_by_pair(getattr(swapped.minimal, name)) for name in ("ids", "types", "special")),
        strict=True,
    ):
        premise, hypothesis = (ids[(types == of) & (special == 0)].tolist() for of in (0, 1))
        assert premise == hypothesis


def test_without_minimal_pairs_there_is_nothing_to_choose():
    evaluation, minimal = encoded_rows(generate_evaluation_pairs(12, 3, seed=1))
    assert select_paired(evaluation, minimal, ["in_domain"]) is None


def files_set(*subsets):
    """[CLS] premise [SEP] hypothesis [SEP]. subsets: (name, group, family, pairs of lists of words)."""
    ids, types, special, slices = [], [], [], []
    for name, group, family, pairs in subsets:
        slices.append(Subset(name, group, family, (0, 1, 1), len(ids), len(ids) + len(pairs)))
        for a, b in pairs:
            ids.append([1, *a, 2, *b, 2])
            types.append([0] * (len(a) + 2) + [1] * (len(b) + 1))
            special.append([1, *[0] * len(a), 1, *[0] * len(b), 1])
    return pack_lists(ids, types, special, [0] * len(ids), tuple(slices))


def test_the_nearest_pair_is_of_the_family_the_other_group_and_the_same_lengths():
    ood = [([5, 6, 7], [7, 6, 5]), ([5, 6], [6, 5]), ([5, 6, 7, 8], [8])]
    entailed = [
        ([9, 6, 7], [7, 6, 5]),  # one token from the first pair
        ([5, 6, 7], [7, 6, 9]),  # one token, too, but later in the set
        ([5, 6, 7], [5, 6, 7]),
        ([8, 8, 8, 8, 8], [7]),
    ]
    closer = [([5, 6, 7], [7, 6, 8])]
    evaluation = files_set(
        ("in", "id", "x", closer), ("o", "ood", "x", ood), ("e", "ood-entailment", "x", entailed),
        ("y", "ood-entailment", "y", closer), ("no", "ood", None, closer), ("ne", "ood-entailment", None, [ood[0]]),
    )  # fmt: skip
    minimal = find_nearest_pairs(evaluation)
    result = [part.tolist() for part in minimal.split_by_pair(minimal.ids)]
    assert result[1] == [1, 9, 6, 7, 2, 7, 6, 5, 2]
    assert count_changed_tokens(evaluation, minimal).tolist() == [0, 1, 0, 0, 1, 1, 2, 0, 0, 0, 0]
    assert {tuple(result[k]) for k in (4, 5, 6)} == {(1, 5, 6, 7, 2, 7, 6, 5, 2)}
    both = select_paired(evaluation, minimal)
    assert both.positions.tolist() == [1, 4, 5, 6] and [s.name for s in both.pairs.subsets] == ["o", "e"]


def test_the_step_takes_the_nearest_pairs_of_files_and_logs_how_near_they_are(tmp_path):
    near, far = [([5, 6, 7], [7, 6, 5])], [([5, 6, 7], [5, 6, 7]), ([5, 6], [5])]
    evaluation = files_set(("o", "ood", "x", near), ("e", "ood-entailment", "x", far))
    evaluation.save(tmp_path / "evaluation")
    options = {name: str(tmp_path / name) for name in ("evaluation", "sentences", "tokenizer", "minimal", "log")}
    options["task"] = str(ROOT / "config" / "paper-mnli-bert.yaml")  # of files
    script("minimal_pairs").main([part for name, value in options.items() for part in (f"--{name}", value)])
    assert (Encoded.load(tmp_path / "minimal").ids == find_nearest_pairs(evaluation).ids).all()
    log = (tmp_path / "log").read_text()
    for subset in ("o", "e"):  # of o 1 of 1, in which 2 tokens differ; of e 1 of 2
        assert any(mentions(line, subset, 1, 2) for line in log.splitlines()), log


def test_the_nearest_pair_of_many_is_that_of_every_comparison():
    rng = np.random.default_rng(0)

    def drawn(count):
        return [(rng.integers(5, 9, 4).tolist(), rng.integers(5, 9, 2).tolist()) for _ in range(count)]

    evaluation = files_set(("o", "ood", "x", drawn(300)), ("e", "ood-entailment", "x", drawn(40)))
    ids = np.stack(evaluation.split_by_pair(evaluation.ids))
    minimal = np.stack(evaluation.split_by_pair(find_nearest_pairs(evaluation).ids))
    for k, row in enumerate(ids):
        others = ids[300:] if k < 300 else ids[:300]
        apart = (others != row).sum(axis=1)
        apart[apart == 0] = 99  # an identical pair is no minimal pair
        assert minimal[k].tolist() == others[apart.argmin()].tolist()
