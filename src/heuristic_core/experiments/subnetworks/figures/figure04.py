"""Figure 4: group accuracies, J and AUC against sparsity."""

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import AUC, J
from heuristic_core.experiments.subnetworks.analysis.outcomes import with_collapses
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.collapsed import draw_crosses, make_cross_handles
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import (
    GROUPS,
    ft_seeds,
    reject_subsets,
    require_rows,
    select_full_model,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_wrapped_panels, set_percent_axis
from heuristic_core.figures.seeds import draw_seed_lines
from heuristic_core.figures.style import SMALL_FONT_SIZE
from heuristic_core.figures.text import format_seed

PANELS = (GROUPS, (J, AUC))  # lines that share a panel
Y_LABELS = ("accuracy (%)", "J (points), AUC (%)")
MARKS = ["ft_seed", "group", "sparsity", "seed", "accuracy", "models", "collapsed"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw two panels for each fine-tuning seed: accuracies of groups, and J and AUC.

    Args:
        tables: Data frames by schema name: "group_accuracy", and "runs" if the study has it.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks: one row per point of a pruning seed, and of their mean, whose `seed` is null.

    Raises:
        ValueError: If the settings choose subsets.
    """
    reject_subsets(settings)
    curves = _collect_curves(with_collapses(tables["group_accuracy"], tables.get("runs")), context)
    drawn = set(curves["group"])
    panels = [k for k, groups in enumerate(PANELS) if drawn & {*groups}]
    keys = [(ft_seed, k) for ft_seed in ft_seeds(curves) for k in panels]
    figure, axes = make_wrapped_panels(settings, len(keys), 2.3, sharex=True)
    for ax, (ft_seed, k) in zip(axes, keys, strict=True):
        looks = {group: ROLES[group] for group in PANELS[k] if group in drawn}
        rows = curves[(curves["ft_seed"] == ft_seed) & curves["group"].isin(list(looks))]
        _draw_panel(ax, rows, looks, context)
        set_percent_axis(ax.yaxis, curves.loc[curves["group"].isin(list(looks)), "accuracy"])
        ax.set_title(format_seed(ft_seed), loc="left")
        ax.set(xlabel="sparsity (% of components removed)", ylabel=Y_LABELS[k])
    for ax in axes[: -len(panels)]:
        ax.set_xlabel("")
    n = len(context.curve_seeds)
    title = f"thick: mean of n = {n} pruning seeds; thin: one pruning seed" if n > 1 else "one pruning seed"
    entries = [
        *legend_handles({group: look for group, look in ROLES.items() if group in drawn}),
        *make_cross_handles((curves["collapsed"] > 0).any(), "collapsed (chance in-domain)"),
    ]
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries), title=title)
    return figure, curves


def _collect_curves(accuracy: pd.DataFrame, context) -> pd.DataFrame:
    """Return each pruning seed's values and their means at each sparsity; sparsity 0 is the full model.

    A mean is over the runs that did not fail, whose number is `models`.
    """
    groups = [group for panel in PANELS for group in panel]
    accuracy = accuracy[accuracy["group"].isin(groups)]
    in_curve = accuracy["seed"].isin(list(context.curve_seeds)) & (accuracy["repeat"] == context.curve_repeat)
    description = f"subnetworks of pruning seeds {context.curve_seeds} at step {context.last}"
    pruned = require_rows(accuracy[in_curve & (accuracy["step"] == context.last)], description)
    keys = ["ft_seed", "group", "sparsity"]
    cells = pruned.groupby(keys)
    means = cells.agg(accuracy=("accuracy", "mean"), models=("accuracy", "count"), collapsed=("collapsed", "sum"))
    full = select_full_model(accuracy, context.last).assign(sparsity=0.0, models=1, collapsed=0)
    pruned = pruned.assign(models=1, collapsed=pruned["collapsed"].astype(int))
    points = pd.concat([full, pruned, means.reset_index()])[MARKS].astype({"seed": "Int64", "accuracy": float})
    return points.sort_values([*keys, "seed"], kind="stable", ignore_index=True)


def _draw_panel(ax, curves: pd.DataFrame, looks: dict, context) -> None:
    """Draw the curves of one fine-tuning seed, hollow where runs failed and crossed where they collapsed."""
    curves = curves.assign(x=100 * curves["sparsity"], value=curves["accuracy"])
    draw_seed_lines(ax, _start_from_full_model(curves), "x", "group", looks)
    means = curves[curves["seed"].isna() & (curves["sparsity"] > 0)]
    # Hollow markers: a mean over fewer seeds is not comparable with the others.
    for group, incomplete in means[means["models"] < len(context.curve_seeds)].groupby("group"):
        hollow = {"marker": looks[group].marker, "linestyle": "", "markerfacecolor": "white"}
        ax.plot(incomplete["x"], incomplete["accuracy"], **hollow, markeredgecolor=looks[group].colour)
    crossed = curves[curves["seed"].notna() & (curves["collapsed"] > 0)]
    draw_crosses(ax, *crossed[["x", "accuracy"]].to_numpy(float).T)
    for name in ("mid", "high"):
        x = 100 * getattr(context, name)
        ax.axvline(x, color="0.4", linestyle=":", linewidth=0.9, zorder=0)
        ax.text(x, 1.01, name, transform=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize=SMALL_FONT_SIZE)


def _start_from_full_model(curves: pd.DataFrame) -> pd.DataFrame:
    """Repeat the full model's rows for each pruning seed, whose line begins there."""
    full = curves[curves["sparsity"] == 0]
    starts = [full.assign(seed=seed) for seed in curves["seed"].dropna().unique()]
    return pd.concat([*starts, curves]).astype({"seed": "Int64"}).sort_values("sparsity", kind="stable")
