"""Figure 4: group accuracies, J and AUC against sparsity."""

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.outcomes import with_collapses
from heuristic_core.experiments.subnetworks.figures.collapsed import draw_crosses, make_cross_handles
from heuristic_core.experiments.subnetworks.figures.roles import COLOURS, ROLES
from heuristic_core.experiments.subnetworks.figures.rows import (
    SUMMARY_GROUPS,
    ft_seeds,
    reject_subsets,
    require_rows,
    select_full_model,
)
from heuristic_core.figures.lines import draw_bands, draw_lines, legend_handles
from heuristic_core.figures.panels import make_wrapped_panels, set_percent_axis
from heuristic_core.figures.style import SMALL_FONT_SIZE
from heuristic_core.figures.text import format_seed
from heuristic_core.stats.seeds import mean_interval

LOOKS = {group: ROLES[group] for group in SUMMARY_GROUPS}


def draw(tables, settings, context):
    """Draw a panel for each fine-tuning seed.

    Args:
        tables: Data frames by schema name: "group_accuracy", and "runs" if the study has it.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks: one row per point, with its interval and the number of models behind it.

    Raises:
        ValueError: If the settings choose subsets.
    """
    reject_subsets(settings)
    curves = _average_curves(with_collapses(tables["group_accuracy"], tables.get("runs")), context)
    seeds = ft_seeds(curves)
    figure, axes = make_wrapped_panels(settings, len(seeds), 2.6, sharex=True, sharey=True)
    for ax, ft_seed in zip(axes, seeds, strict=True):
        _draw_panel(ax, curves[curves["ft_seed"] == ft_seed], context)
        set_percent_axis(ax.yaxis, curves["accuracy"])
        ax.set_title(format_seed(ft_seed), loc="left")
        ax.set(xlabel="sparsity (% of components removed)", ylabel="accuracy, AUC (%), J (points)")
        ax.label_outer()
    n = len(context.curve_seeds)
    title = f"mean of n = {n} pruning seeds" if n > 1 else "one pruning seed"
    band = "; band: its 95 % confidence interval (Student's t)" if n > 1 else ""
    looks = {group: look for group, look in LOOKS.items() if group in set(curves["group"])}
    entries = [
        *legend_handles(looks),
        *make_cross_handles((curves["collapsed"] > 0).any(), "some of them collapsed (chance in-domain)"),
    ]
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries), title=title + band)
    return figure, curves


def _average_curves(accuracy: pd.DataFrame, context) -> pd.DataFrame:
    """Average group accuracy over the curve's pruning seeds at each sparsity; sparsity 0 is the full model.

    Columns `low` and `high` are the ends of the 95 % interval, `over` is its sampling unit. Failed runs are left out.
    """
    in_curve = accuracy["seed"].isin(list(context.curve_seeds)) & (accuracy["repeat"] == context.curve_repeat)
    description = f"subnetworks of pruning seeds {context.curve_seeds} at step {context.last}"
    pruned = require_rows(accuracy[in_curve & (accuracy["step"] == context.last)], description)
    keys = ["ft_seed", "group", "sparsity"]
    full = (
        select_full_model(accuracy, context.last)
        .assign(sparsity=0.0, models=1, collapsed=0)
        .rename(columns={"unit": "over"})
    )
    points = full.to_dict("records")
    for key, cell in pruned.groupby(keys):
        values = cell["accuracy"].dropna()
        mean, low, high = mean_interval(values)
        row = {"accuracy": mean, "low": low, "high": high, "over": "pruning seed", "models": len(values)}
        row["collapsed"] = int(cell["collapsed"].sum())
        points.append(dict(zip(keys, key, strict=True)) | row)
    points = pd.DataFrame(points, columns=[*keys, "accuracy", "low", "high", "over", "models", "collapsed"])
    return points.sort_values(keys, kind="stable", ignore_index=True)


def _draw_panel(ax, curves: pd.DataFrame, context) -> None:
    """Draw the curves of one fine-tuning seed, hollow where runs failed and crossed where they collapsed."""
    curves = curves.assign(percent=100 * curves["sparsity"])
    full = curves["sparsity"] == 0
    # The full model's interval has another sampling unit: draw it as a whisker, apart from the band.
    draw_bands(ax, curves[~full], "percent", "group", LOOKS)
    colours = curves.loc[full, "group"].map(COLOURS)
    ax.vlines("percent", "low", "high", colors=colours, linewidth=0.8, data=curves[full])
    draw_lines(ax, curves, "percent", "accuracy", "group", LOOKS)
    # Hollow markers: a mean over fewer seeds is not comparable with the others.
    for group, incomplete in curves[~full & (curves["models"] < len(context.curve_seeds))].groupby("group"):
        hollow = {"marker": LOOKS[group].marker, "linestyle": "", "markerfacecolor": "white"}
        ax.plot(incomplete["percent"], incomplete["accuracy"], **hollow, markeredgecolor=LOOKS[group].colour)
    draw_crosses(ax, *curves.loc[curves["collapsed"] > 0, ["percent", "accuracy"]].to_numpy(float).T)
    for name in ("mid", "high"):
        x = 100 * getattr(context, name)
        ax.axvline(x, color="0.4", linestyle=":", linewidth=0.9, zorder=0)
        ax.text(x, 1.01, name, transform=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize=SMALL_FONT_SIZE)
