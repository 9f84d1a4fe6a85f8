"""Generate the training and evaluation pairs of the miniature study.

In-domain pairs have one of three labels (:mod:`~heuristic_core.data.languages.overlap.labelled`). The shallow heuristic
"the premise entails the hypothesis if it contains its words" is almost always right. It is wrong on the
counter-examples, a small share of the training pairs, and on all pairs of the ood subsets. Artefacts are a second
shallow heuristic (:mod:`~heuristic_core.data.languages.overlap.artefacts`).
"""

from collections.abc import Sequence
from random import Random

from heuristic_core.config.generated import Artefacts, GeneratedTask
from heuristic_core.data.languages.language import Language
from heuristic_core.data.languages.overlap import grammar as g
from heuristic_core.data.languages.overlap import vocabulary
from heuristic_core.data.languages.overlap.artefacts import add_artefacts
from heuristic_core.data.languages.overlap.labelled import ENTAILMENT, LABELS, NEUTRAL, draw_labelled_pair
from heuristic_core.data.languages.overlap.unlabelled import generate_unlabelled_pairs
from heuristic_core.data.languages.overlap.vocabulary import LEXICON
from heuristic_core.data.languages.word_sampler import WordSampler
from heuristic_core.data.pairs import make_row

NON_ENTAILMENT = 1  # besides ENTAILMENT, in the two-label space of HANS

_COUNTER_EXAMPLE_RULES = {rule.__name__: rule for rules in g.COUNTER_EXAMPLES.values() for rule in rules}
_ENTAILMENT_RULES = {rule.__name__: rule for rules in g.ENTAILMENTS.values() for rule in rules}
NO_ARTEFACTS = Artefacts()
# Evaluation subset -> (group, family), in the order of the evaluation set: in_domain, then one subset per rule.
# The ood subsets, where overlap misleads, are mirrored by the ood-entailment subsets: premises of similar form whose
# hypothesis is entailed. A model that calls every overlap "not entailment" has 100 % on the former, 0 % on the latter.
#   le_prep      phrase on subject or object                 mirrors ln_prep
#   le_rel       relative clause on subject or object        mirrors ln_rel
#   le_passive   active to passive and back                  mirrors ln_passive; "were" and "by" may be new words
#   le_conj      one of two conjoined subjects or objects    mirrors ln_conj
#   se_modified  modified subject of an intransitive verb    mirrors sn_pp and sn_rel; may be an interrupted subsequence
#   se_adjunct   adjective or place left out                 contiguous subsequences that are entailed
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


def generate_training_pairs(
    n: int, counter_examples: float, weights: Sequence[float], seed: int, artefacts: Artefacts = NO_ARTEFACTS
) -> list[dict]:
    """Generate training pairs as rows of the table "sentences", without held-out clauses (`draw.held_out`).

    Args:
        n: number of pairs.
        counter_examples: expected share of counter-examples, whose label is neutral; all other pairs have the three
            labels equally often.
        weights: relative frequency of each of the 11 rules of `grammar.COUNTER_EXAMPLES`, in that order.
        seed: of the random numbers.
        artefacts: of the other pairs.

    Raises:
        ValueError: the number of weights is not the number of rules.
    """
    if len(weights) != len(_COUNTER_EXAMPLE_RULES):
        raise ValueError(f"{len(weights)} weights; pass one for each of {', '.join(_COUNTER_EXAMPLE_RULES)}")
    rules = list(_COUNTER_EXAMPLE_RULES.values())
    rng = _make_rng("train", seed)
    rows = []
    for i in range(n):
        draw = WordSampler(rng, held_out=False, lexicon=LEXICON)
        if draw.chance(counter_examples):
            label, rule = NEUTRAL, rng.choices(rules, weights)[0]
            template, pair = rule.__name__, rule(draw)
        else:
            label = rng.randrange(len(LABELS))
            template, pair = _draw_in_domain("train", seed, i, label, draw, artefacts)
        rows.append(make_row("train", None, None, template, [*map(" ".join, pair)], label))
    return rows


def generate_evaluation_pairs(
    id_pairs: int, pairs_per_subcase: int, seed: int, artefacts: Artefacts = NO_ARTEFACTS
) -> list[dict]:
    """Generate evaluation pairs as rows of the table "sentences", subset by subset as in `SUBSETS`.

    Clauses are held-out combinations of words. Each subset has its own seed, so that adding a subset changes no other.

    Args:
        id_pairs: number of pairs of in_domain, with the labels of `LABELS` in turn.
        pairs_per_subcase: number of pairs of every other subset, with HANS's labels, 0 entailment and 1 non-entailment.
        seed: of the random numbers.
        artefacts: of in_domain; the other subsets have none.
    """
    rows = []
    rng = _make_rng("in_domain", seed)
    for i in range(id_pairs):
        label = i % len(LABELS)
        template, pair = _draw_in_domain(
            "in_domain", seed, i, label, WordSampler(rng, held_out=True, lexicon=LEXICON), artefacts
        )
        rows.append(make_row("in_domain", *SUBSETS["in_domain"], template, [*map(" ".join, pair)], label))
    for name, rule in (_COUNTER_EXAMPLE_RULES | _ENTAILMENT_RULES).items():
        rng = _make_rng(name, seed)
        label = ENTAILMENT if name in _ENTAILMENT_RULES else NON_ENTAILMENT
        for _ in range(pairs_per_subcase):
            pair = rule(WordSampler(rng, held_out=True, lexicon=LEXICON))
            rows.append(make_row(name, *SUBSETS[name], name, [*map(" ".join, pair)], label))
    return rows


def _draw_in_domain(
    subset: str, seed: int, row: int, label: int, draw: WordSampler, artefacts: Artefacts
) -> tuple[str, g.Pair]:
    """Draw template, premise and hypothesis of a pair of class `label`.

    Each row's artefacts have their own seed, so that they change no other row.
    """
    labelled_pair = draw_labelled_pair(label, draw)
    if artefacts != NO_ARTEFACTS:
        artefact_draw = WordSampler(_make_rng(f"artefacts {subset} {row}", seed), draw.held_out, LEXICON)
        labelled_pair = add_artefacts(labelled_pair, label, artefacts, artefact_draw)
    return labelled_pair.template, labelled_pair.pair


def _make_rng(name: str, seed: int) -> Random:
    return Random(f"{name} {seed}")


def _generate_training(task: GeneratedTask) -> list[dict]:
    return generate_training_pairs(
        task.train_pairs, task.counter_examples, task.counter_example_weights, task.seed, task.artefacts
    )


def _generate_evaluation(task: GeneratedTask) -> list[dict]:
    # Evaluation pairs come from word combinations held out of training, under a seed of their own.
    return generate_evaluation_pairs(task.id_pairs, task.pairs_per_subcase, task.seed + 1, task.artefacts)


LANGUAGE = Language(
    words=vocabulary.WORDS,
    labels=LABELS,
    subsets=SUBSETS,
    merge=(0, 1, 1),
    generate_training=_generate_training,
    generate_evaluation=_generate_evaluation,
    generate_unlabelled=lambda text, *settings: generate_unlabelled_pairs(*settings),
)
