"""Findings of an audit."""

from dataclasses import dataclass

# Kind of finding -> its meaning and remedy. Causes precede kinds that follow from them.
KINDS = {
    "tampered": "a result or record was modified: remove both and run the study again",
    "missing": "a result with a record does not exist: run the study again",
    "unrecorded": "a result of the configuration has no record: remove it and run the study again",
    "irreproducible": "recomputation gave a different result: remove it with its record and run the study again; if it "
    "differs again, it depends on something that is not recorded",
    "stale": "made with a different configuration, code or input files: run the study again; `make changes` explains "
    "why jobs would run",
    "orphaned": "no job of the configuration makes this file: remove it if it is not needed",
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
