"""Figure 9: what the core heads attend to."""

import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import REPEATED_COLOUR
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.style import SMALL_FONT_SIZE, contrast_colour
from heuristic_core.figures.text import format_seed

# Category -> colour and hatch, in the order of the bars; the hatches tell neighbours apart without colour.
CATEGORIES = {
    "repeated": (REPEATED_COLOUR, None),
    "previous": ("#D9D2E9", "////"),
    "next": ("#B4A7D6", None),
    "separator": ("#F4E7C5", "...."),
    "first": ("#DFC27D", None),
    "self": ("#F2D5DF", "\\\\\\\\"),
    "other": ("#E4E4E4", None),
}
CATEGORY_NAMES = {
    "repeated": "repeated word", "previous": "previous word", "next": "next word", "first": "first token",
    "self": "itself",
}  # fmt: skip
MIN_LABELLED = 4  # percent; a narrower segment has no room for its number
OTHER_HEADS = "mean of other heads"


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a panel for each fine-tuning seed.

    Args:
        tables: Data frames by schema name: "attention" and "core".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per segment; `heads` is how many heads the share is a mean of.

    Raises:
        ValueError: If a category of attention is unknown.
    """
    segments = _collect_segments(tables["attention"], tables["core"], context.last)
    seeds = ft_seeds(segments)
    is_repeated = segments["category"] == "repeated"
    categories = [name for name in CATEGORIES if name != "repeated" or segments.loc[is_repeated, "share"].any()]
    sizes = [segments.loc[segments["ft_seed"] == seed, "bar"].nunique() for seed in seeds]
    height = sum(0.24 * size + 0.45 for size in sizes) + 0.75
    figure, axes = make_panels(settings, len(seeds), 1, height, sharex=True, height_ratios=sizes)
    for ax, ft_seed in zip(axes[:, 0], seeds, strict=True):
        bars = segments[segments["ft_seed"] == ft_seed]
        _draw_panel(ax, bars, categories)
        none = "" if (bars["bar"] != OTHER_HEADS).any() else ": no core heads"
        ax.set_title(format_seed(ft_seed) + none, loc="left")
    axes[-1, 0].set_xlabel("mean share of attention (%)")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), handlelength=1.4, columnspacing=1.2)
    return figure, segments


def _collect_segments(attention: pd.DataFrame, core: pd.DataFrame, step: int) -> pd.DataFrame:
    """Return shares (0 to 1) by fine-tuning seed, bar and category: each core head, then the mean of all others."""
    attention = attention[(attention["step"] == step) & (attention["kind"] == "head")]
    attention = require_rows(attention, f"attention of heads at step {step}")
    if unknown := set(attention["category"]) - set(CATEGORIES):
        raise ValueError(f"unknown attention category {', '.join(sorted(unknown))}")
    shares = require_rows(
        attention.merge(core[["ft_seed", "component", "in_core"]]), "heads of table attention in table core"
    )
    in_core = shares["in_core"].astype(bool)
    heads = shares[in_core].sort_values("component", kind="stable").assign(heads=1).rename(columns={"name": "bar"})
    other_shares = shares[~in_core].groupby(["ft_seed", "category"])
    others = other_shares.agg(share=("share", lambda values: values.mean(skipna=False)), heads=("component", "nunique"))
    segments = pd.concat([heads, others.reset_index().assign(bar=OTHER_HEADS)])
    return segments[["ft_seed", "bar", "heads", "category", "share"]].sort_values("ft_seed", kind="stable")


def _draw_panel(ax: Axes, bars: pd.DataFrame, categories: list[str]) -> None:
    """Draw horizontal stacks, the first bar on top; a missing share has width zero."""
    names = list(bars["bar"].unique())
    left = pd.Series(0.0, names)
    for category in categories:
        colour, hatch = CATEGORIES[category]
        widths = 100 * bars[bars["category"] == category].set_index("bar")["share"].reindex(names)
        ax.barh(
            range(len(names)), widths, left=left, height=0.78, color=colour, hatch=hatch, edgecolor="white",
            label=CATEGORY_NAMES.get(category, category),
        )  # fmt: skip
        for y, (start, width) in enumerate(zip(left, widths, strict=True)):
            if width >= MIN_LABELLED:
                _write_share(ax, start + width / 2, y, width, colour)
        left += widths.fillna(0)
    ax.set_yticks(range(len(names)), [_label(name, bars) for name in names])
    ax.tick_params("y", length=0)
    ax.set(xlim=(0, 100), ylim=(len(names) - 0.5, -0.5))


def _label(bar: str, bars: pd.DataFrame) -> str:
    """Return the tick label of a bar."""
    heads = bars.loc[bars["bar"] == bar, "heads"].iloc[0]
    return f"mean of {heads} other heads" if bar == OTHER_HEADS else f"head {bar}"


def _write_share(ax: Axes, x: float, y: float, share: float, colour: str) -> None:
    """Write a share into its segment, on a background of the segment's colour, so that no hatch crosses it."""
    background = {"facecolor": colour, "edgecolor": "none", "pad": 0.8}
    ax.text(
        x,
        y,
        f"{share:.0f}",
        ha="center",
        va="center_baseline",
        fontsize=SMALL_FONT_SIZE,
        color=contrast_colour(colour),
        bbox=background,
    )
