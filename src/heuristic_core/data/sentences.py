"""Generate a task's examples, or read them from files."""

from collections import Counter
from random import Random

from heuristic_core.config.generated import GeneratedTask
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.files import read_task
from heuristic_core.data.languages.registry import LANGUAGES
from heuristic_core.data.pairs import RowCounts, Sentences, SubsetRule


def load_sentences(task: GeneratedTask | FilesTask) -> Sentences:
    """Generate or read all examples of a task."""
    if isinstance(task, GeneratedTask):
        return _generate(task)
    return read_task(task)


def _generate(task: GeneratedTask) -> Sentences:
    language = LANGUAGES[task.language]
    train, evaluation = language.generate_training(task), language.generate_evaluation(task)
    if task.random_labels:
        rng = Random(f"random labels {task.seed}")
        train = [row | {"label": rng.randrange(len(language.labels))} for row in train]
    identity_merge = tuple(range(len(language.labels)))
    rules = tuple(
        SubsetRule(name, group, family, identity_merge if group == "id" else language.merge)
        for name, (group, family) in language.subsets.items()
    )
    rows = Counter(row["subset"] for row in [*train, *evaluation])
    groups = {"train": None} | {rule.name: rule.group for rule in rules}
    accounts = (RowCounts(name, name, group, "generated", rows[name], rows[name]) for name, group in groups.items())
    return Sentences(language.labels, train, evaluation, rules, tuple(accounts))
