"""Numbers and names as text in figures and tables."""

from textwrap import fill
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def format_number(value: float | None, digits: int = 1) -> str:
    """Return a number with a true minus sign; empty for null.

    Args:
        value: The number.
        digits: Number of decimals.
    """
    return "" if pd.isna(value) else f"{value:z.{digits}f}".replace("-", "−")


def format_signed(value: float | None, digits: int = 1) -> str:
    """Return a number like :func:`format_number`, with + for positive values.

    Args:
        value: The number.
        digits: Number of decimals.
    """
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


def annotate_missing(ax: "Axes", reason: str) -> None:
    """Write into a panel why it is empty, and hide its axes.

    Args:
        ax: Axes of the panel.
        reason: Text, which is wrapped.
    """
    ax.text(0.5, 0.5, fill(reason, 44), transform=ax.transAxes, ha="center", va="center")
    ax.set_axis_off()
