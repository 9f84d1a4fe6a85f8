"""Minimal pairs of the generated language: a pair of a rule with the fewest words exchanged that turn its label."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

from heuristic_core.tasks.encode import encode
from heuristic_core.tasks.encoded import Encoded
from heuristic_core.tasks.grammar import Pair
from heuristic_core.tasks.minimal_pairs import SIDES, layouts
from heuristic_core.tasks.vocabulary import (
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
    Words,
)

_CLASSES = {
    word: letter
    for letter, words in zip("NVIPAL", (NOUNS, TRANSITIVE, INTRANSITIVE, PREPOSITIONS, ADJECTIVES, PLACES), strict=True)
    for word in words
}
# A premise with its words' classes in place of its words -> the clauses that it states, as positions of their words.
_STATED = {
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
# Rules whose label a cue word of the premise makes -> those of a stated and of an unstated clause.
_CUES = {
    ("ce_because", "cn_if"): (FACTUAL_CONJUNCTIONS, CONDITIONALS),
    ("ce_verb", "cn_verb"): (FACTIVES, NON_FACTIVES),
    ("ce_adv", "cn_adv"): (CERTAIN_ADVERBS, DOUBTFUL_ADVERBS),
    ("ce_and", "cn_or"): (("and",), ("or",)),
}
_CUES_OF = {rule: stated + unstated for rules, (stated, unstated) in _CUES.items() for rule in rules}
# A cue word -> the one of the other kind that takes its place, by position in the list.
_EXCHANGED = {
    word: others[k % len(others)]
    for stated, unstated in _CUES.values()
    for words, others in ((stated, unstated), (unstated, stated))
    for k, word in enumerate(words)
}
_SCOPES = CONDITIONALS + DOUBTFUL_ADVERBS + NON_FACTIVES + FACTUAL_CONJUNCTIONS


def generated(rows: Sequence[dict], evaluation: Encoded, tokenizer, max_length: int) -> Encoded:
    """Minimal pairs of the generated language: see :func:`.counterpart`.

    rows: of table "sentences", as `evaluation` was encoded from them. In-domain pairs have none, nor does a pair whose
    tokens would not align with those of its counterpart.
    """
    made = [_counterpart_row(row) for row in rows]
    other = encode(made, tokenizer, max_length)
    ids, parts = evaluation.ids.copy(), [encoded.split(encoded.ids) for encoded in (evaluation, other)]
    alike = [layouts(encoded) for encoded in (evaluation, other)]
    for k, (here, there) in enumerate(zip(*alike, strict=True)):
        if here == there:
            ids[evaluation.offsets[k] : evaluation.offsets[k + 1]] = parts[1][k]
    return replace(evaluation, ids=ids)


def counterpart(rule: str, premise: Words, hypothesis: Words) -> Pair | None:
    """The pair of the other label that differs from a pair of `rule` in the fewest words; as many words in each part.

    Lexical overlap and subsequence: nouns of the hypothesis are exchanged for nouns of the premise, so that it is a
    clause that the premise states where it was none, or none where it was one. Constituent: the cue word is exchanged
    for one of the other kind; of `ce_scope`, whose cue word is elsewhere, the hypothesis becomes the intransitive
    clause in the cue word's scope. Of several, one whose words are in the order of the premise, then the first.

    rule: one of the evaluation subsets of the grammar's rules. None where there is no such pair: of `se_modified` with
    one noun or two conjoined ones, and of `ce_scope` with a transitive hypothesis.
    """
    if rule in _CUES_OF:
        return _other_cue(premise, _CUES_OF[rule]), hypothesis
    if rule == "ce_scope":
        return (premise, _in_scope(premise)) if len(hypothesis) == 2 else None
    if "were" in hypothesis:  # b were v by a
        return premise, (hypothesis[-1], *hypothesis[1:-1], hypothesis[0])
    clauses = _STATED[" ".join(_CLASSES.get(word, word) for word in premise)]
    stated = {tuple(premise[int(position)] for position in clause) for clause in clauses}
    verb, nouns = hypothesis[1], [word for word in premise if _CLASSES.get(word) == "N"]
    possible = [(subject, verb, *objects) for subject, *objects in permutations(nouns, len(hypothesis) - 1)]
    turned = [clause for clause in possible if (clause in stated) != (hypothesis in stated)]
    closest = min(
        turned, default=None, key=lambda clause: (_changes(clause, hypothesis), not _in_order(clause, premise))
    )
    return closest and (premise, closest)


def _counterpart_row(row: dict) -> dict:
    if row["group"] not in SIDES:
        return row
    pair = counterpart(row["subset"], tuple(row["sentence1"].split()), tuple(row["sentence2"].split()))
    return row | dict(zip(("sentence1", "sentence2"), map(" ".join, pair), strict=True)) if pair else row


def _other_cue(premise: Words, cues: Words) -> Words:
    position = next(k for k, word in enumerate(premise) if word in cues)
    return (*premise[:position], _EXCHANGED[premise[position]], *premise[position + 1 :])


def _in_scope(premise: Words) -> Words:
    """The two words behind the cue word, and behind "that"."""
    position = 1 + next(k for k, word in enumerate(premise) if word in _SCOPES)
    position += premise[position] == "that"
    return premise[position : position + 2]


def _in_order(clause: Words, premise: Words) -> bool:
    """Whether a clause is a subsequence of the premise; of a verb that occurs twice, the last counts."""
    places = [len(premise) - 1 - premise[::-1].index(word) for word in clause]
    return places == sorted(places)


def _changes(words: Words, others: Words) -> int:
    return sum(word != other for word, other in zip(words, others, strict=True))
