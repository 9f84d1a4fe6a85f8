"""What a task's sentence pairs are: training rows, evaluation rows, the subsets these form, and what became of rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from unicodedata import normalize

from heuristic_core.common.errors import counted

REASONS = {  # columns of table `splits` -> why rows of a file are not used, as messages say it
    "torn": "torn",
    "not_chosen": "not chosen by `where`",
    "other_label": "of another label than `only_label`",
    "unlabelled": "without a label",
    "empty": "with an empty sentence",
    "overlapping": "in an evaluation set, too",
    "not_drawn": "not drawn for the sample",
}
LISTED = 5  # subsets that a message names
TRAIN, MARK = "train", " (subset)"
UNASKED = ("torn", "unlabelled", "empty")  # of these, reasons that nobody asked for
# Characters of the category Cf, such as soft hyphens and marks of direction, and joiners and selectors of variants.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)


@dataclass(frozen=True)
class SubsetRule:
    """How a subset is scored. merge: for each class of the model, the label of the subset that it counts as."""

    name: str
    group: str
    family: str | None
    merge: tuple[int, ...]


@dataclass
class Account:
    """What became of the rows of one subset, or of training: `rows` are those used and those left out for each reason.

    set: "train", or the evaluation set's key. subset: None for rows of the set's files that belong to no subset.
    source: the files, as the configuration names them. reasons: of `REASONS`, how many rows each left out.
    """

    set: str
    subset: str | None
    group: str | None
    source: str
    rows: int
    used: int
    reasons: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Sentences:
    """train, evaluation: rows of table `sentences`, the latter subset by subset in the order of `subsets`.

    accounts: of training first, then of the subsets in their order, each set's rows without a subset behind them.
    warnings: what a person should know of the files.
    """

    labels: tuple[str, ...]
    train: list[dict]
    evaluation: list[dict]
    subsets: tuple[SubsetRule, ...]
    accounts: tuple[Account, ...]
    warnings: tuple[str, ...] = ()


def pair_key(row: dict) -> tuple[str, str]:
    """By what two rows of table `sentences` are the same pair: the :func:`words` of both sentences."""
    return words(row["sentence1"]), words(row["sentence2"])


def words(text: str) -> str:
    """A sentence without what a reader does not see or hear: case, the space between words, how Unicode writes it.

    This is Unicode's compatibility caseless match (definition D146): NFKD, under which composed and decomposed letters,
    ligatures and full-width forms are the same. NFC would keep the latter apart, although many tokenizers
    (SentencePiece's) read them as the same; of two pairs that are wrongly taken for the same, as with "10²" and
    "102", one training pair is lost, whereas an evaluation pair left in training is one the model has seen. Characters
    without a width, such as soft hyphens, count for nothing.
    """
    if not text.isascii():
        text = normalize("NFD", INVISIBLE.sub("", text))
        text = normalize("NFKD", normalize("NFKD", text.casefold()).casefold())
    return " ".join(text.split()).casefold()


def reasons_text(reasons: dict[str, int]) -> str:
    """The reasons for which rows are left out, as "3 without a label, 1 with an empty sentence"."""
    return ", ".join(f"{reasons[name]:,} {words}" for name, words in REASONS.items() if reasons.get(name))


def set_names(rows: Sequence[Mapping]) -> list[str]:
    """What messages and pages call the rows of table `splits`, of which the first is training.

    A subset may be called as training is, and is then marked; no two subsets have one name.
    """
    subsets = [row["subset"] for row in rows[1:]]
    marked = [name and (f"{name}{MARK}" if name == TRAIN or name.endswith(MARK) else name) for name in subsets]
    others = [name or f"{row['set']}, of no subset" for name, row in zip(marked, rows[1:], strict=True)]
    return [TRAIN, *others][: len(rows)]


def lost_text(accounts: Sequence[Account]) -> str:
    """The message that of some subsets, at least one, no row can be used."""
    if len(accounts) == 1:
        (one,) = accounts
        none = f"none of its {counted(one.rows, 'row')} can be used ({reasons_text(one.reasons)})"
        return f"subset {one.subset!r} is left out: {none}"
    listed = ", ".join(f"{one.subset!r} ({reasons_text(one.reasons)})" for one in accounts[:LISTED])
    listed += f" and {len(accounts) - LISTED:,} more" if len(accounts) > LISTED else ""
    return f"subsets {listed} are left out: none of their rows can be used"


def no_room(special: int, max_length: int) -> str | None:
    """Why `max_length` is too short for `special` tokens and a token of each sentence; None where it is not."""
    if (least := special + 2) <= max_length:
        return None
    return (
        f"task.max_length = {max_length} leaves no room for a token of each sentence: the tokenizer puts "
        f"{counted(special, 'special token')} into a pair; give {least} at least"
    )
