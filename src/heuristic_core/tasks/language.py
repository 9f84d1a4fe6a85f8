"""The generated language: training and evaluation pairs of the miniature study, and their vocabulary.

A pair is an entailment by one of the grammar's rules; a neutral pair, which is a pair of any rule with new words
in the hypothesis; or a contradiction, which has "never" on one side. Almost always the shallow heuristic "the
hypothesis follows if its words are in the premise" is right. It is wrong on a small share of the training pairs,
the counter-examples, and on all pairs of the ood subsets.
"""

from collections.abc import Sequence
from itertools import accumulate
from random import Random

from heuristic_core.tasks import grammar as g
from heuristic_core.tasks import vocabulary
from heuristic_core.tasks.draw import Draw

LABELS = ("entailment", "neutral", "contradiction")
ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)
NON_ENTAILMENT = 1  # beside ENTAILMENT in the two-label space of HANS

VOCABULARY = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", *vocabulary.WORDS)

_COUNTER_EXAMPLES = {rule.__name__: rule for rules in g.COUNTER_EXAMPLES.values() for rule in rules}
_MIRRORS = {rule.__name__: rule for rules in g.ENTAILMENTS.values() for rule in rules}
# Evaluation subset -> (group, family), in the order of the evaluation set: in_domain, then one subset per rule.
# The ood subsets, where overlap misleads, are mirrored by the ood-entailment subsets: premises of similar form whose
# hypothesis does follow. A model that calls every overlap "not entailment" has 100 % on the former, 0 % on the latter.
#   le_prep      phrase on subject or object                 mirrors ln_prep
#   le_rel       relative clause on subject or object        mirrors ln_rel
#   le_passive   active to passive and back                  mirrors ln_passive; "were" and "by" may be new words
#   le_conj      one of two conjoined subjects or objects    mirrors ln_conj
#   se_modified  modified subject of an intransitive verb    mirrors sn_pp and sn_rel; may be an interrupted subsequence
#   se_adjunct   adjective or place left out                 contiguous subsequences that do follow
#   ce_because   because, since, when, after                 mirrors cn_if
#   ce_verb      knew, forgot                                mirrors cn_verb
#   ce_adv       certainly, clearly                          mirrors cn_adv
#   ce_and       either of two conjoined clauses             mirrors cn_or
#   ce_scope     a clause outside the cue word's scope       mirrors every constituent subset
SUBSETS = {"in_domain": ("id", None)} | {
    rule.__name__: (group, family)
    for group, families in (("ood", g.COUNTER_EXAMPLES), ("ood-entailment", g.ENTAILMENTS))
    for family, rules in families.items()
    for rule in rules
}

# How often each rule makes an entailment, relative to the others.
_ENTAILMENT_WEIGHTS = {
    g.identity: 3, g.two_adjectives: 0.5,
    g.le_prep: 2, g.le_rel: 2, g.le_passive: 2, g.le_conj: 2,
    g.se_modified: 2, g.se_adjunct: 1.5,
    g.ce_because: 2, g.ce_verb: 1, g.ce_adv: 1, g.ce_and: 1, g.ce_scope: 2,
}  # fmt: skip
_ENTAILMENTS, _CUMULATIVE = list(_ENTAILMENT_WEIGHTS), list(accumulate(_ENTAILMENT_WEIGHTS.values()))
_SAME_CLASS = {
    word: words for words in (vocabulary.NOUNS, vocabulary.TRANSITIVE, vocabulary.INTRANSITIVE) for word in words
}
# The other neutral pairs have a counter-example's premise, so that these premises are not foreign in-domain.
_NEUTRAL_FROM_ENTAILMENT = 0.9
_NEGATED_HYPOTHESIS = 0.7


def training_pairs(n: int, counter_examples: float, weights: Sequence[float], seed: int) -> list[dict]:
    """`n` rows of the table "sentences", subset "train", labels as in `LABELS`.

    counter_examples: their expected share; their label is neutral. weights: how often each of the 11 rules of
    `grammar.COUNTER_EXAMPLES` makes one, relative to the others, in that order. All other pairs have
    the three labels equally often. No clause is drawn from the held-out combinations (`draw.held_out`).
    Raises ValueError if there is not one weight per rule.
    """
    if len(weights) != len(_COUNTER_EXAMPLES):
        raise ValueError(f"{len(weights)} weights; give one for each of {', '.join(_COUNTER_EXAMPLES)}")
    rules = list(_COUNTER_EXAMPLES.values())
    rng = _generator("train", seed)
    rows = []
    for _ in range(n):
        draw = Draw(rng, held_out=False)
        if draw.chance(counter_examples):
            label, rule = NEUTRAL, rng.choices(rules, weights)[0]
            template, pair = rule.__name__, rule(draw)
        else:
            label = rng.randrange(len(LABELS))
            template, pair = _MAKERS[label](draw)
        rows.append(_row("train", None, None, template, pair, label))
    return rows


def evaluation_pairs(id_pairs: int, pairs_per_subcase: int, seed: int) -> list[dict]:
    """Rows of the table "sentences", subset by subset as in `SUBSETS`, from held-out combinations of words.

    id_pairs: rows of in_domain, whose labels are those of `LABELS` in turn. pairs_per_subcase: rows of every other
    subset, whose labels are HANS's, 0 entailment and 1 non-entailment. Every subset is drawn from a seed of its own,
    so that adding one changes no other.
    """
    rows = []
    rng = _generator("in_domain", seed)
    for i in range(id_pairs):
        label = i % len(LABELS)
        template, pair = _MAKERS[label](Draw(rng, held_out=True))
        rows.append(_row("in_domain", *SUBSETS["in_domain"], template, pair, label))
    for name, rule in (_COUNTER_EXAMPLES | _MIRRORS).items():
        rng = _generator(name, seed)
        label = ENTAILMENT if name in _MIRRORS else NON_ENTAILMENT
        for _ in range(pairs_per_subcase):
            rows.append(_row(name, *SUBSETS[name], name, rule(Draw(rng, held_out=True)), label))
    return rows


def _generator(name: str, seed: int) -> Random:
    return Random(f"{name} {seed}")


def _row(subset: str, group: str | None, family: str | None, template: str, pair: g.Pair, label: int) -> dict:
    premise, hypothesis = map(" ".join, pair)
    return {
        "subset": subset, "group": group, "family": family, "template": template,
        "sentence1": premise, "sentence2": hypothesis, "label": label,
    }  # fmt: skip


# ---- one pair of each label, with the name of its template


def _entailment(draw: Draw) -> tuple[str, g.Pair]:
    rule = draw.rng.choices(_ENTAILMENTS, cum_weights=_CUMULATIVE)[0]
    return rule.__name__, rule(draw)


def _neutral(draw: Draw) -> tuple[str, g.Pair]:
    """A pair of any rule, one to three words of its hypothesis replaced by words that are not in the pair."""
    if draw.chance(_NEUTRAL_FROM_ENTAILMENT):
        template, (premise, hypothesis) = _entailment(draw)
    else:
        template, rule = draw.choice(list(_COUNTER_EXAMPLES.items()))
        premise, hypothesis = rule(draw)
    changed = list(hypothesis)
    slots = [i for i, word in enumerate(hypothesis) if word in _SAME_CLASS]
    for i in draw.rng.sample(slots, min(len(slots), draw.choice((1, 2, 3)))):
        present = {*premise, *hypothesis}
        changed[i] = draw.choice([word for word in _SAME_CLASS[hypothesis[i]] if word not in present])
    return f"{template}, new words", (premise, tuple(changed))


def _contradiction(draw: Draw) -> tuple[str, g.Pair]:
    """An entailment with its hypothesis negated, or a bare clause with its premise negated."""
    if draw.chance(_NEGATED_HYPOTHESIS):
        template, (premise, hypothesis) = _entailment(draw)
        return f"{template}, negated hypothesis", (premise, g.negated(hypothesis))
    clause = draw.transitive()
    place = ("in", draw.choice(vocabulary.PLACES)) if draw.chance(0.5) else ()
    return "negated premise", ((*g.negated(clause), *place), clause)


_MAKERS = (_entailment, _neutral, _contradiction)
