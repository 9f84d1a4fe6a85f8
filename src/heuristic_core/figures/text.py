"""Numbers and names as figures and tables write them."""

from textwrap import fill

import pandas as pd


def number(value, digits: int = 1) -> str:
    """A number with `digits` decimals and a true minus sign; empty where it is null."""
    return "" if pd.isna(value) else f"{value:z.{digits}f}".replace("-", "−")


def signed(value, digits: int = 1) -> str:
    """The same with its sign, + included."""
    return "" if pd.isna(value) else f"{value:+z.{digits}f}".replace("-", "−")


def bracket(low: float, high: float, digits: int = 1) -> str:
    """The ends of an interval, with a space before; empty where they are unknown."""
    return "" if pd.isna(low) or pd.isna(high) else f" [{number(low, digits)}, {number(high, digits)}]"


def percent(share: float) -> str:
    """Return a share, 0-1, in percent."""
    return f"{100 * share:g} %"


def seed_label(ft_seed: int) -> str:
    """Return the label of a fine-tuning seed."""
    return f"fine-tuning seed {ft_seed}"


def told(ax, reason: str) -> None:
    """Write into an empty panel why it is empty."""
    ax.text(0.5, 0.5, fill(reason, 44), transform=ax.transAxes, ha="center", va="center")
    ax.set_axis_off()
