"""Errors that a user mends: they are shown as their message, without a traceback."""


class InputError(ValueError):
    """Something given to the program is wrong. The message names file, key and value, and what would be right."""


class Diverged(InputError):
    """Training left the finite numbers, or learns nothing. The message names the step; settings are to be changed."""


def counted(count: int, noun: str) -> str:
    """A number of things, as messages write it: "1 row", "2,000 rows"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
