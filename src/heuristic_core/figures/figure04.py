"""Figure 4: group accuracies against sparsity."""

import pandas as pd

from heuristic_core.analysis.accuracy import group_means
from heuristic_core.figures.panels import percent_axis, seed_label, wrapped
from heuristic_core.figures.rows import GROUPS, ft_seeds, full_model, shown, some
from heuristic_core.figures.style import ROLES, SMALL


def draw(tables, settings, context):
    """A panel for each fine-tuning seed. Marks: one row per point, with the band's ends and the models behind it."""
    curves = _curves(tables["accuracy"], shown(settings, context), context)
    seeds = ft_seeds(curves)
    figure, axes = wrapped(settings, len(seeds), 2.6, sharex=True, sharey=True)
    for ax, ft_seed in zip(axes, seeds, strict=True):
        _panel(ax, curves[curves["ft_seed"] == ft_seed], context)
        ax.set_title(seed_label(ft_seed), loc="left")
        ax.set_xlabel("sparsity (% of components removed)")
        ax.set_ylabel("accuracy (%)")
        ax.label_outer()
    title = f"mean of {len(context.curve_seeds)} pruning seeds, band from the lowest to the highest"
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(handles), title=title)
    return figure, curves


def _curves(accuracy: pd.DataFrame, subsets, context) -> pd.DataFrame:
    """Mean, lowest and highest group accuracy over the curve's pruning seeds at each sparsity."""
    curve = (accuracy["step"] == context.last) & accuracy["seed"].isin(list(context.curve_seeds))
    rows = pd.concat(
        [
            full_model(accuracy, context.last),
            some(accuracy[curve], f"subnetworks of pruning seeds {context.curve_seeds} at step {context.last}"),
        ]
    )
    means = group_means(rows, subsets).groupby(["ft_seed", "group", "sparsity"])["accuracy"]
    return means.agg(accuracy="mean", lowest="min", highest="max", models="count").reset_index()


def _panel(ax, curves: pd.DataFrame, context) -> None:
    for group in GROUPS:
        curve, role = curves[curves["group"] == group], ROLES[group]
        if curve.empty:
            continue
        x = 100 * curve["sparsity"]
        ax.fill_between(x, curve["lowest"], curve["highest"], color=role.colour, alpha=0.2, linewidth=0)
        ax.plot(x, curve["accuracy"], color=role.colour, linestyle=role.line, marker=role.marker, label=role.label)
        # A mean over fewer seeds than the others is not comparable with them: hollow.
        fewer = (curve["sparsity"] > 0) & (curve["models"] < len(context.curve_seeds))
        hollow = {"marker": role.marker, "linestyle": "", "markerfacecolor": "white", "markeredgecolor": role.colour}
        ax.plot(x[fewer], curve.loc[fewer, "accuracy"], **hollow)
    for name in ("mid", "high"):
        x = 100 * getattr(context, name)
        ax.axvline(x, color="0.4", linestyle=":", linewidth=0.9, zorder=0)
        ax.text(x, 1.01, name, transform=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize=SMALL)
    percent_axis(ax.yaxis)
