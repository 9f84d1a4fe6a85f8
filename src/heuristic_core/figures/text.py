"""Numbers and names as text in figures and tables."""

from textwrap import fill

import pandas as pd


def format_number(value, digits: int = 1) -> str:
    """Return a number with `digits` decimals and a true minus sign; empty for null."""
    return "" if pd.isna(value) else f"{value:z.{digits}f}".replace("-", "−")


def format_signed(value, digits: int = 1) -> str:
    """Return a number like :func:`format_number`, with + for positive values."""
    return "" if pd.isna(value) else f"{value:+z.{digits}f}".replace("-", "−")


def format_interval(low: float, high: float, digits: int = 1) -> str:
    """Return an interval such as " [1.2, 3.4]", with the space; empty if an end is null.

    Args:
        low: Lower end.
        high: Upper end.
        digits: Number of decimals.
    """
    return "" if pd.isna(low) or pd.isna(high) else f" [{format_number(low, digits)}, {format_number(high, digits)}]"


def format_percent(share: float) -> str:
    """Return a fraction, 0-1, in percent."""
    return f"{100 * share:g} %"


def format_seed(ft_seed: int) -> str:
    """Return the label of a fine-tuning seed."""
    return f"fine-tuning seed {ft_seed}"


def annotate_missing(ax, reason: str) -> None:
    """Write into a panel why it is empty, and hide its axes."""
    ax.text(0.5, 0.5, fill(reason, 44), transform=ax.transAxes, ha="center", va="center")
    ax.set_axis_off()
