"""Errors that a user can fix. They are shown as their message, without a traceback."""


class InputError(ValueError):
    """Invalid input. The message names file, key and value, and a valid value."""


class DivergenceError(InputError):
    """Training produced NaN or infinity, or the model did not learn. The message names the step."""


def format_points(points: float) -> str:
    """Return a difference in points for messages, such as "1 point" or "2.5 points"."""
    return f"{points:g} point{'' if points == 1 else 's'}"


def format_count(count: int, noun: str) -> str:
    """Return a count with its noun, such as "1 row" or "2,000 rows".

    Args:
        count: Number of things.
        noun: Noun in the singular, whose plural ends in "s".
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
