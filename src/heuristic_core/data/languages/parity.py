"""Sparse parity: is the number of ones at a few hidden positions even or odd?

The training set is small and seen many times. A model can memorise it long before it computes the parity (grokking),
after which it needs fewer components: a control of what a falling effective size looks like (Merrill et al. 2023). The
in-domain subset is of training sequences, the out-of-domain ones are of all others.
"""

from itertools import product
from random import Random

from heuristic_core.config.generated import CLASS_NAMES, PARITY_LENGTH, GeneratedTask, UnlabelledText
from heuristic_core.data.languages.language import Language
from heuristic_core.data.languages.word_sampler import Words
from heuristic_core.data.pairs import make_row

WORDS = ("one", "zero")
EVEN, ODD = 0, 1
HIDDEN = 3  # positions that count
SUBSETS = {"in_domain": ("id", None), "unseen_odd": ("ood", "unseen"), "unseen_even": ("ood-entailment", "unseen")}


def compute_parity(sequence: Words, positions: tuple[int, ...]) -> int:
    """Return `EVEN` or `ODD`."""
    return sum(sequence[position] == "one" for position in positions) % 2


def draw_positions(seed: int) -> tuple[int, ...]:
    """Draw the positions that count."""
    return tuple(sorted(Random(f"parity positions {seed}").sample(range(PARITY_LENGTH), HIDDEN)))


def _split(task: GeneratedTask) -> tuple[list[Words], list[Words]]:
    """Return the training sequences, and all others, in random order."""
    sequences = list(product(WORDS, repeat=PARITY_LENGTH))
    Random(f"parity {task.seed}").shuffle(sequences)
    return sequences[: task.train_pairs], sequences[task.train_pairs :]


def _rows(subset: str, sequences: list[Words], positions: tuple[int, ...]) -> list[dict]:
    group, family = SUBSETS.get(subset, (None, None))
    return [
        make_row(subset, group, family, "parity", [" ".join(words)], compute_parity(words, positions))
        for words in sequences
    ]


def generate_training(task: GeneratedTask) -> list[dict]:
    """Return `task.train_pairs` different sequences."""
    return _rows("train", _split(task)[0], draw_positions(task.seed))


def generate_evaluation(task: GeneratedTask) -> list[dict]:
    """Return sequences of the training set, and others, by their parity."""
    (seen, unseen), positions = _split(task), draw_positions(task.seed)
    by_parity = {parity: [s for s in unseen if compute_parity(s, positions) == parity] for parity in (ODD, EVEN)}
    return [
        *_rows("in_domain", seen[: task.id_pairs], positions),
        *_rows("unseen_odd", by_parity[ODD][: task.pairs_per_subcase], positions),
        *_rows("unseen_even", by_parity[EVEN][: task.pairs_per_subcase], positions),
    ]


def generate_unlabelled(text: UnlabelledText, count: int, related: float, seed: str) -> list[dict]:
    """Return random sequences."""
    rng = Random(seed)
    return [{"sentence1": " ".join(rng.choices(WORDS, k=PARITY_LENGTH)), "sentence2": None} for _ in range(count)]


LANGUAGE = Language(
    words=WORDS,
    labels=tuple(CLASS_NAMES["parity"]),
    subsets=SUBSETS,
    merge=(EVEN, ODD),
    generate_training=generate_training,
    generate_evaluation=generate_evaluation,
    generate_unlabelled=generate_unlabelled,
)
