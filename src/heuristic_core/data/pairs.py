"""Sentence pairs of a task, its evaluation subsets, and counts of used and dropped rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from unicodedata import normalize

from heuristic_core.common.errors import format_count

REASONS = {  # column of table `splits` -> reason for dropping rows, in messages
    "torn": "torn",
    "not_chosen": "excluded by `where`",
    "other_label": "excluded by `only_label`",
    "unlabelled": "without a label",
    "overlapping": "also in an evaluation set",
    "not_drawn": "outside the sample",
}
MAX_LISTED_SUBSETS = 5  # in a message
TRAIN, SUBSET_MARK = "train", " (subset)"
UNREQUESTED_REASONS = ("torn", "unlabelled")  # reasons not set in the configuration
# Characters of the category Cf, such as soft hyphens and direction marks, and joiners and variation selectors.
INVISIBLE_CHARACTERS = re.compile(
    "[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)


@dataclass(frozen=True)
class SubsetRule:
    """How a subset is scored.

    Attributes:
        name: of the subset.
        group: id, ood or ood-entailment.
        family: of the heuristic, or None.
        merge: for each class of the model, the label of the subset that it counts as.
    """

    name: str
    group: str
    family: str | None
    merge: tuple[int, ...]


@dataclass
class RowCounts:
    """Counts of the used and dropped rows of one subset, or of training.

    Attributes:
        set: "train", or the evaluation set's key.
        subset: None for training, and for rows that belong to no subset.
        group: of the subset; None if it has no usable row.
        source: the files, as in the configuration.
        rows: all rows, used and dropped.
        used: rows used.
        reasons: reason in `REASONS` -> number of rows dropped for it.
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
    """Sentence pairs of a task.

    Attributes:
        labels: names of the classes 0, 1, ...
        train: rows of table `sentences` to train on.
        evaluation: rows of table `sentences`, subset by subset in the order of `subsets`.
        subsets: the evaluation subsets.
        accounts: training first, then each set's subsets, followed by the set's rows without a subset.
        warnings: about the files.
    """

    labels: tuple[str, ...]
    train: list[dict]
    evaluation: list[dict]
    subsets: tuple[SubsetRule, ...]
    accounts: tuple[RowCounts, ...]
    warnings: tuple[str, ...] = ()


def make_row(
    subset: str,
    group: str | None,
    family: str | None,
    template: str | None,
    sentences: Sequence[str],
    label: int,
    target: tuple[int, int] | None = None,
) -> dict:
    """Return a row of table `sentences`.

    Args:
        subset: Name of the evaluation subset, or "train".
        group: "id", "ood" or "ood-entailment"; None in training sets.
        family: Family of the heuristic, or None.
        template: Rule or template that made the pair, or None.
        sentences: Premise and hypothesis, or two questions, or one sentence.
        label: Index of the true label, in the label space of the subset.
        target: First character of the classified word, and the one after its last; None without a target.
    """
    first, second = (*sentences, None)[:2]
    start, end = target or (None, None)
    return {
        "subset": subset, "group": group, "family": family, "template": template,
        "sentence1": first, "sentence2": second, "target_start": start, "target_end": end, "label": label,
    }  # fmt: skip


def get_sentences(row: Mapping) -> tuple[str, ...]:
    """Return the one or two sentences of a row of table `sentences`."""
    return (row["sentence1"],) if row["sentence2"] is None else (row["sentence1"], row["sentence2"])


def make_pair_key(row: Mapping) -> tuple[str, ...]:
    """Return the key under which two rows of table `sentences` are the same example.

    It has the normalised sentences and, where a word is classified, this word and the number of words before it.
    """
    key = tuple(map(normalise_sentence, get_sentences(row)))
    if (end := row.get("target_end")) is None:
        return key
    start, sentence = row["target_start"], row["sentence1"]
    return (*key, normalise_sentence(sentence[start:end]), str(len(sentence[:start].split())))


def normalise_sentence(text: str) -> str:
    """Normalise a sentence: fold case, collapse white space, and remove invisible characters.

    This is Unicode's compatibility caseless matching (definition D146). It uses NFKD, under which composed and
    decomposed letters, ligatures and full-width forms are equal, as many tokenizers (SentencePiece) read them; NFC
    would keep ligatures and full-width forms distinct. Some different sentences also become equal ("10²" and "102").
    That costs a training pair, whereas a missed duplicate would train the model on an evaluation pair.
    """
    if not text.isascii():
        text = normalize("NFD", INVISIBLE_CHARACTERS.sub("", text))
        text = normalize("NFKD", normalize("NFKD", text.casefold()).casefold())
    return " ".join(text.split()).casefold()


def format_reasons(reasons: dict[str, int]) -> str:
    """Format the reasons for dropping rows, as "3 without a label, 1 outside the sample"."""
    return ", ".join(f"{reasons[name]:,} {description}" for name, description in REASONS.items() if reasons.get(name))


def name_sets(rows: Sequence[Mapping]) -> list[str]:
    """Return unique names of the rows of table `splits` for messages and the report; the first row is training.

    A subset called "train" is marked as a subset.
    """
    subsets = [row["subset"] for row in rows[1:]]
    subset_names = [
        name and (f"{name}{SUBSET_MARK}" if name == TRAIN or name.endswith(SUBSET_MARK) else name) for name in subsets
    ]
    others = [name or f"{row['set']}, of no subset" for name, row in zip(subset_names, rows[1:], strict=True)]
    return [TRAIN, *others][: len(rows)]


def format_lost_subsets(accounts: Sequence[RowCounts]) -> str:
    """Format a warning that no row of one or more subsets can be used."""
    if len(accounts) == 1:
        (account,) = accounts
        none = f"none of its {format_count(account.rows, 'row')} can be used ({format_reasons(account.reasons)})"
        return f"subset {account.subset!r} is left out: {none}"
    listed = ", ".join(
        f"{account.subset!r} ({format_reasons(account.reasons)})" for account in accounts[:MAX_LISTED_SUBSETS]
    )
    listed += f" and {len(accounts) - MAX_LISTED_SUBSETS:,} more" if len(accounts) > MAX_LISTED_SUBSETS else ""
    return f"subsets {listed} are left out: none of their rows can be used"


def find_length_error(special: int, max_length: int, sentences: int = 2) -> str | None:
    """Return an error text if `max_length` tokens have no room for a token of each sentence, else None.

    Args:
        special: number of special tokens in an example.
        max_length: maximum number of tokens of an example.
        sentences: number of sentences of an example.
    """
    if (min_length := special + sentences) <= max_length:
        return None
    return (
        f"task.max_length = {max_length} leaves no room for a token of each sentence: the tokenizer puts "
        f"{format_count(special, 'special token')} into {'a pair' if sentences == 2 else 'a sentence'}; "
        f"set at least {min_length}"
    )
