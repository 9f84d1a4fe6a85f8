"""Tables of the parts of the block `mechanism`."""

from collections.abc import Callable


def has_part(part: str) -> Callable[..., bool]:
    """Return the function that says whether a study has a part of the block `mechanism`."""
    return lambda study: part in study.mechanism.parts
