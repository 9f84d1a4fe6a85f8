"""What an audit finds."""

from dataclasses import dataclass

KINDS = {
    "tampered": "a result or a record is not what was written",
    "missing": "a result that was made is not there",
    "unrecorded": "a result of the configuration has no record",
    "stale": "made by another configuration, by other code, or from other files than there are now",
    "orphaned": "no job of the configuration makes this",
    "irreproducible": "computed again, it came out otherwise",
}


@dataclass(frozen=True)
class Finding:
    """kind: one of `KINDS`. path: the result or record, as seen from the working directory. detail: what and since."""

    kind: str
    path: str
    detail: str
