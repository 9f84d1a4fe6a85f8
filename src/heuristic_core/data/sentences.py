"""Generate a task's sentence pairs, or read them from files."""

from collections import Counter

from heuristic_core.config.tasks import FilesTask, GeneratedTask
from heuristic_core.data import language
from heuristic_core.data.files import read_task
from heuristic_core.data.pairs import RowCounts, Sentences, SubsetRule


def load_sentences(task: GeneratedTask | FilesTask) -> Sentences:
    """Generate or read all pairs of a task."""
    if isinstance(task, GeneratedTask):
        return _generate(task)
    return read_task(task)


def _generate(task: GeneratedTask) -> Sentences:
    train = language.generate_training_pairs(
        task.train_pairs, task.counter_examples, task.counter_example_weights, task.seed, task.artefacts
    )
    # Evaluation pairs come from word combinations held out of training, under a seed of their own.
    evaluation = language.generate_evaluation_pairs(
        task.id_pairs, task.pairs_per_subcase, task.seed + 1, task.artefacts
    )
    identity_merge, binary_merge = (0, 1, 2), (0, 1, 1)
    rules = tuple(
        SubsetRule(name, group, family, identity_merge if group == "id" else binary_merge)
        for name, (group, family) in language.SUBSETS.items()
    )
    rows = Counter(row["subset"] for row in [*train, *evaluation])
    groups = {"train": None} | {rule.name: rule.group for rule in rules}
    accounts = (RowCounts(name, name, group, "generated", rows[name], rows[name]) for name, group in groups.items())
    return Sentences(language.LABELS, train, evaluation, rules, tuple(accounts))
