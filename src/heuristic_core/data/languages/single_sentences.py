"""Make a language of single sentences from its rules.

A rule draws a sentence for a label, and a target if a word is classified. Rules are of three kinds: in-domain, where
the shallow heuristic is right; counter-examples, where it is wrong, a small share of the training sentences and all of
the ood subsets; and counterparts of these, the ood-entailment subsets, where it is right on sentences that look
similar. In both kinds of subsets the heuristic predicts class 0, the true class of the counterparts alone.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from heuristic_core.config.generated import GeneratedTask, UnlabelledText
from heuristic_core.data.languages.language import Language
from heuristic_core.data.languages.word_sampler import Lexicon, Words, WordSampler
from heuristic_core.data.pairs import make_row

HEURISTIC_CLASS, OTHER_CLASS = 0, 1


class Example(NamedTuple):
    """A sentence of a language.

    Attributes:
        words: Its words.
        label: Its class, of two. A rule can have sentences of one class only, whichever it is asked for.
        target: Index of the word that is classified; None if it is the whole sentence.
    """

    words: Words
    label: int
    target: int | None = None


Rule = Callable[[WordSampler, int], Example]


class Rules(NamedTuple):
    """Rules of a language.

    Attributes:
        in_domain: Rule -> how often it occurs.
        counter_examples: Family -> rules, in the order of the configuration's weights.
        counterparts: Family -> rules.
        text_class: Class of the sentences of unlabelled text: the grammatical one, where classes differ in that.
    """

    in_domain: Mapping[Rule, float]
    counter_examples: Mapping[str, Sequence[Rule]]
    counterparts: Mapping[str, Sequence[Rule]]
    text_class: int = HEURISTIC_CLASS


def make_language(
    classes: Mapping[str, Words], function_words: Words, lexicon: Lexicon, labels: tuple[str, str], rules: Rules
) -> Language:
    """Make a language from its rules.

    Args:
        classes: Word class -> its words; all content words are in one class. In-domain sentences of one rule with the
            same classes at the same positions are of one template.
        function_words: All other words.
        lexicon: The words of clauses, of which some combinations are held out for evaluation.
        labels: Names of the two classes.
        rules: The rules.
    """
    subset_rules = {
        rule.__name__: (rule, group, family, label)
        for group, label, families in (
            ("ood", OTHER_CLASS, rules.counter_examples),
            ("ood-entailment", HEURISTIC_CLASS, rules.counterparts),
        )
        for family, family_rules in families.items()
        for rule in family_rules
    }
    counter_examples = [rule for family_rules in rules.counter_examples.values() for rule in family_rules]

    class_of = {word: name for name, words in classes.items() for word in words}

    def draw_in_domain(rng: Random, held_out: bool, label: int) -> tuple[str, Example]:
        (rule,) = rng.choices(list(rules.in_domain), list(rules.in_domain.values()))
        example = rule(WordSampler(rng, held_out, lexicon), label)
        return " ".join([f"{rule.__name__}:", *(class_of.get(word, word) for word in example.words)]), example

    def draw(rng: Random, mixture: GeneratedTask | UnlabelledText, label: int | None = None) -> tuple[str, Example]:
        is_counter_example = rng.random() < mixture.counter_examples
        label = rng.randrange(2) if label is None else label
        if not is_counter_example:
            return draw_in_domain(rng, False, label)
        (rule,) = rng.choices(counter_examples, mixture.counter_example_weights)
        return rule.__name__, rule(WordSampler(rng, False, lexicon), label)

    def generate_training(task: GeneratedTask) -> list[dict]:
        rng = Random(f"train {task.seed}")
        return [_make_row("train", None, None, *draw(rng, task)) for _ in range(task.train_pairs)]

    def generate_evaluation(task: GeneratedTask) -> list[dict]:
        seed, rows = task.seed + 1, []
        rng = Random(f"in_domain {seed}")
        rows += [_make_row("in_domain", "id", None, *draw_in_domain(rng, True, i % 2)) for i in range(task.id_pairs)]
        for name, (rule, group, family, label) in subset_rules.items():
            rng = Random(f"{name} {seed}")
            for _ in range(task.pairs_per_subcase):
                rows.append(_make_row(name, group, family, name, rule(WordSampler(rng, True, lexicon), label)))
        return rows

    def generate_unlabelled(text: UnlabelledText, count: int, related: float, seed: str) -> list[dict]:
        rng = Random(seed)
        sentences = (draw(rng, text, rules.text_class)[1] for _ in range(count))
        return [{"sentence1": " ".join(example.words), "sentence2": None} for example in sentences]

    subsets = {name: (group, family) for name, (_, group, family, _) in subset_rules.items()}
    return Language(
        words=tuple(sorted({*class_of, *function_words})),
        labels=labels,
        subsets={"in_domain": ("id", None)} | subsets,
        merge=(HEURISTIC_CLASS, OTHER_CLASS),
        generate_training=generate_training,
        generate_evaluation=generate_evaluation,
        generate_unlabelled=generate_unlabelled,
    )


def _make_row(subset: str, group: str | None, family: str | None, template: str, example: Example) -> dict:
    """Return a row of table `sentences`."""
    span = None
    if example.target is not None:
        start = len(" ".join((*example.words[: example.target], "")))
        span = start, start + len(example.words[example.target])
    return make_row(subset, group, family, template, [" ".join(example.words)], example.label, span)
