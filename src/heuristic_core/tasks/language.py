"""The generated language: training and evaluation pairs of the miniature study, and their vocabulary.

In-domain pairs have one of three labels (:mod:`heuristic_core.tasks.labelled`). Almost always the shallow heuristic
"the hypothesis follows if its words are in the premise" is right. It is wrong on a small share of the training pairs,
the counter-examples, and on all pairs of the ood subsets. Artefacts give a second shallow way to the label
(:mod:`heuristic_core.tasks.artefacts`).
"""

from collections.abc import Sequence
from random import Random

from heuristic_core.config.tasks import Artefacts
from heuristic_core.tasks import grammar as g
from heuristic_core.tasks import vocabulary
from heuristic_core.tasks.artefacts import with_artefacts
from heuristic_core.tasks.draw import Draw
from heuristic_core.tasks.labelled import ENTAILMENT, LABELS, NEUTRAL, labelled

NON_ENTAILMENT = 1  # beside ENTAILMENT in the two-label space of HANS

VOCABULARY = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]", *vocabulary.WORDS)

_COUNTER_EXAMPLES = {rule.__name__: rule for rules in g.COUNTER_EXAMPLES.values() for rule in rules}
_MIRRORS = {rule.__name__: rule for rules in g.ENTAILMENTS.values() for rule in rules}
NO_ARTEFACTS = Artefacts()
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


def training_pairs(
    n: int, counter_examples: float, weights: Sequence[float], seed: int, artefacts: Artefacts = NO_ARTEFACTS
) -> list[dict]:
    """`n` rows of the table "sentences", subset "train", labels as in `LABELS`.

    counter_examples: their expected share; their label is neutral. weights: how often each of the 11 rules of
    `grammar.COUNTER_EXAMPLES` makes one, relative to the others, in that order. All other pairs have
    the three labels equally often. artefacts: of these other pairs. No clause is drawn from the held-out combinations
    (`draw.held_out`). Raises ValueError if there is not one weight per rule.
    """
    if len(weights) != len(_COUNTER_EXAMPLES):
        raise ValueError(f"{len(weights)} weights; give one for each of {', '.join(_COUNTER_EXAMPLES)}")
    rules = list(_COUNTER_EXAMPLES.values())
    rng = _generator("train", seed)
    rows = []
    for i in range(n):
        draw = Draw(rng, held_out=False)
        if draw.chance(counter_examples):
            label, rule = NEUTRAL, rng.choices(rules, weights)[0]
            template, pair = rule.__name__, rule(draw)
        else:
            label = rng.randrange(len(LABELS))
            template, pair = _in_domain("train", seed, i, label, draw, artefacts)
        rows.append(_row("train", None, None, template, pair, label))
    return rows


def evaluation_pairs(
    id_pairs: int, pairs_per_subcase: int, seed: int, artefacts: Artefacts = NO_ARTEFACTS
) -> list[dict]:
    """Rows of the table "sentences", subset by subset as in `SUBSETS`, from held-out combinations of words.

    id_pairs: rows of in_domain, whose labels are those of `LABELS` in turn. pairs_per_subcase: rows of every other
    subset, whose labels are HANS's, 0 entailment and 1 non-entailment. artefacts: of in_domain; the other subsets have
    none. Every subset is drawn from a seed of its own, so that adding one changes no other.
    """
    rows = []
    rng = _generator("in_domain", seed)
    for i in range(id_pairs):
        label = i % len(LABELS)
        template, pair = _in_domain("in_domain", seed, i, label, Draw(rng, held_out=True), artefacts)
        rows.append(_row("in_domain", *SUBSETS["in_domain"], template, pair, label))
    for name, rule in (_COUNTER_EXAMPLES | _MIRRORS).items():
        rng = _generator(name, seed)
        label = ENTAILMENT if name in _MIRRORS else NON_ENTAILMENT
        for _ in range(pairs_per_subcase):
            rows.append(_row(name, *SUBSETS[name], name, rule(Draw(rng, held_out=True)), label))
    return rows


def _in_domain(subset: str, seed: int, row: int, label: int, draw: Draw, artefacts: Artefacts) -> tuple[str, g.Pair]:
    """Template, premise and hypothesis of a pair of class `label`.

    Artefacts are drawn from a seed of their own for each row, so that they change nothing but the row.
    """
    made = labelled(label, draw)
    if artefacts != NO_ARTEFACTS:
        own = Draw(_generator(f"artefacts {subset} {row}", seed), draw.held_out)
        made = with_artefacts(made, label, artefacts, own)
    return made.template, made.pair


def _generator(name: str, seed: int) -> Random:
    return Random(f"{name} {seed}")


def _row(subset: str, group: str | None, family: str | None, template: str, pair: g.Pair, label: int) -> dict:
    premise, hypothesis = map(" ".join, pair)
    return {
        "subset": subset, "group": group, "family": family, "template": template,
        "sentence1": premise, "sentence2": hypothesis, "label": label,
    }  # fmt: skip
