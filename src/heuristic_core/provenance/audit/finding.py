"""Findings of an audit."""

from dataclasses import dataclass

# Kind of finding -> its meaning and remedy. Causes precede kinds that follow from them.
KINDS = {
    "tampered": "a result or a record is not what was written: remove both, and run the study again",
    "missing": "a result that was made is not there: run the study again",
    "unrecorded": "a result of the configuration has no record: remove it, and run the study again",
    "irreproducible": "computed again, it came out otherwise: remove it and its record, and run the study again; if it "
    "differs again, something that no setting names decides it",
    "stale": "made by another configuration, by other code, or from other files than there are now: run the study "
    "again; `make changes` says why what would run",
    "orphaned": "no job of the configuration makes this: remove it, if nothing else needs it",
}


@dataclass(frozen=True)
class Finding:
    """One finding of an audit.

    Attributes:
        kind: Key of `KINDS`.
        path: Path of the result or record, relative to the working directory.
        detail: What is wrong.
    """

    kind: str
    path: str
    detail: str
