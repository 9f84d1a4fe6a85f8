"""Minimal pairs of the generated language: the fewest words that flip a pair's label are exchanged."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

from heuristic_core.data.encode import encode
from heuristic_core.data.encoded import Encoded
from heuristic_core.data.languages.overlap.grammar import Pair
from heuristic_core.data.languages.overlap.vocabulary import (
    ADJECTIVES,
    CERTAIN_ADVERBS,
    CONDITIONALS,
    DOUBTFUL_ADVERBS,
    FACTIVES,
    FACTUAL_CONJUNCTIONS,
    INTRANSITIVE,
    NON_FACTIVES,
    NOUNS,
    PLACES,
    PREPOSITIONS,
    TRANSITIVE,
)
from heuristic_core.data.languages.word_sampler import Words
from heuristic_core.data.minimal_pairs import OVERLAP_GROUPS, get_layouts

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_WORD_CLASSES = {
    word: letter
    for letter, words in zip("NVIPAL", (NOUNS, TRANSITIVE, INTRANSITIVE, PREPOSITIONS, ADJECTIVES, PLACES), strict=True)
    for word in words
}
# Premise as word classes -> the clauses that it states, as positions of their words.
_STATED_CLAUSES = {
    "N V N": ("012",),
    "N were V by N": ("420",),
    "N P N V N": ("034",),
    "N V N P N": ("012",),
    "N who N V V N": ("045", "230"),
    "N V N who N V": ("012", "452"),
    "N who I V N": ("034", "02"),
    "N who V N V N": ("045", "023"),
    "N V N who I": ("012", "24"),
    "N and N V N": ("034", "234"),
    "N V N and N": ("012", "014"),
    "A N V N": ("123",),
    "N V N in L": ("012",),
    "N P N I": ("03",),
    "N who V N I": ("04", "023"),
    "N and N I": ("03", "23"),
    "A N I": ("12",),
    "N I in L": ("01",),
}
# Rules whose label depends on a cue word of the premise -> cue words that imply their clause, and those that do not.
_CUE_WORDS = {
    ("ce_because", "cn_if"): (FACTUAL_CONJUNCTIONS, CONDITIONALS),
    ("ce_verb", "cn_verb"): (FACTIVES, NON_FACTIVES),
    ("ce_adv", "cn_adv"): (CERTAIN_ADVERBS, DOUBTFUL_ADVERBS),
    ("ce_and", "cn_or"): (("and",), ("or",)),
}
_RULE_CUES = {rule: stated + unstated for rules, (stated, unstated) in _CUE_WORDS.items() for rule in rules}
# Cue word -> its replacement of the other kind, by position in the list.
_REPLACEMENT_CUES = {
    word: others[k % len(others)]
    for stated, unstated in _CUE_WORDS.values()
    for words, others in ((stated, unstated), (unstated, stated))
    for k, word in enumerate(words)
}
_SCOPE_CUES = CONDITIONALS + DOUBTFUL_ADVERBS + NON_FACTIVES + FACTUAL_CONJUNCTIONS


def build_minimal_pairs(
    rows: Sequence[dict], evaluation: Encoded, tokenizer: "PreTrainedTokenizerBase", max_length: int
) -> Encoded:
    """Build the minimal pairs of the generated language.

    In-domain pairs have no minimal pair, nor have pairs whose tokens would not align with those of their counterpart.

    Args:
        rows: rows of table "sentences".
        evaluation: the same rows, encoded.
        tokenizer: the tokenizer that encoded them.
        max_length: maximum number of tokens of a pair.

    Returns:
        The set `evaluation` with the token ids of the minimal pairs.
    """
    counterpart_rows = [_make_counterpart_row(row) for row in rows]
    counterparts = encode(counterpart_rows, tokenizer, max_length)
    ids, pair_ids = (
        evaluation.ids.copy(),
        [encoded.split_by_pair(encoded.ids) for encoded in (evaluation, counterparts)],
    )
    layouts = [get_layouts(encoded) for encoded in (evaluation, counterparts)]
    for k, (layout, counterpart_layout) in enumerate(zip(*layouts, strict=True)):
        if layout == counterpart_layout:
            ids[evaluation.offsets[k] : evaluation.offsets[k + 1]] = pair_ids[1][k]
    return replace(evaluation, ids=ids)


def make_counterpart(rule: str, premise: Words, hypothesis: Words) -> Pair | None:
    """Make the pair of the other label that differs in the fewest words, with sentences of equal lengths.

    Lexical overlap and subsequence: nouns of the hypothesis are exchanged for nouns of the premise, so that the premise
    states the new hypothesis only if it did not state the old one. Constituent: the cue word is exchanged for one of
    the other kind; for `ce_scope`, whose cue word is elsewhere, the hypothesis becomes the intransitive clause in the
    cue word's scope. Of several pairs, those with words in the order of the premise come first.

    Args:
        rule: name of the rule, an evaluation subset.
        premise: words of the premise.
        hypothesis: words of the hypothesis.

    Returns:
        The pair; None if there is none, as for `se_modified` with one noun or two conjoined ones, and for `ce_scope`
        with a transitive hypothesis.
    """
    if rule in _RULE_CUES:
        return _exchange_cue(premise, _RULE_CUES[rule]), hypothesis
    if rule == "ce_scope":
        return (premise, _find_scope_clause(premise)) if len(hypothesis) == 2 else None
    if "were" in hypothesis:  # b were v by a
        return premise, (hypothesis[-1], *hypothesis[1:-1], hypothesis[0])
    clauses = _STATED_CLAUSES[" ".join(_WORD_CLASSES.get(word, word) for word in premise)]
    stated = {tuple(premise[int(position)] for position in clause) for clause in clauses}
    verb, nouns = hypothesis[1], [word for word in premise if _WORD_CLASSES.get(word) == "N"]
    candidates = [(subject, verb, *objects) for subject, *objects in permutations(nouns, len(hypothesis) - 1)]
    flipped = [clause for clause in candidates if (clause in stated) != (hypothesis in stated)]
    closest = min(
        flipped,
        default=None,
        key=lambda clause: (_count_changes(clause, hypothesis), not _is_in_order(clause, premise)),
    )
    return closest and (premise, closest)


def _make_counterpart_row(row: dict) -> dict:
    if row["group"] not in OVERLAP_GROUPS:
        return row
    pair = make_counterpart(row["subset"], tuple(row["sentence1"].split()), tuple(row["sentence2"].split()))
    return row | dict(zip(("sentence1", "sentence2"), map(" ".join, pair), strict=True)) if pair else row


def _exchange_cue(premise: Words, cues: Words) -> Words:
    position = next(k for k, word in enumerate(premise) if word in cues)
    return (*premise[:position], _REPLACEMENT_CUES[premise[position]], *premise[position + 1 :])


def _find_scope_clause(premise: Words) -> Words:
    """Return the two words after the cue word and an optional "that"."""
    position = 1 + next(k for k, word in enumerate(premise) if word in _SCOPE_CUES)
    position += premise[position] == "that"
    return premise[position : position + 2]


def _is_in_order(clause: Words, premise: Words) -> bool:
    """Return whether a clause is a subsequence of the premise; of repeated words, the last occurrence counts."""
    positions = [len(premise) - 1 - premise[::-1].index(word) for word in clause]
    return positions == sorted(positions)


def _count_changes(words: Words, others: Words) -> int:
    return sum(word != other for word, other in zip(words, others, strict=True))
