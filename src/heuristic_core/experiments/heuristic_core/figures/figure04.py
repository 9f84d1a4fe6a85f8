"""Figure 4: group accuracies, J and AUC against sparsity."""

import pandas as pd

from heuristic_core.analysis.seeds import mean_interval
from heuristic_core.experiments.heuristic_core.analysis.outcomes import with_collapses
from heuristic_core.experiments.heuristic_core.figures.collapsed import crossed, crosses
from heuristic_core.experiments.heuristic_core.figures.roles import COLOURS, ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import MEASURED, ft_seeds, full_model, groups_alone, some
from heuristic_core.figures.lines import bands, handles, lines
from heuristic_core.figures.panels import percent_axis, wrapped
from heuristic_core.figures.style import SMALL
from heuristic_core.figures.text import seed_label

LOOKS = {group: ROLES[group] for group in MEASURED}


def draw(tables, settings, context):
    """A panel for each fine-tuning seed. Marks: one row per point, with its interval and the models behind it.

    Raises ValueError where the settings choose subsets.
    """
    groups_alone(settings)
    curves = _curves(with_collapses(tables["group_accuracy"], tables.get("runs")), context)
    seeds = ft_seeds(curves)
    figure, axes = wrapped(settings, len(seeds), 2.6, sharex=True, sharey=True)
    for ax, ft_seed in zip(axes, seeds, strict=True):
        _panel(ax, curves[curves["ft_seed"] == ft_seed], context)
        percent_axis(ax.yaxis, curves["accuracy"])
        ax.set_title(seed_label(ft_seed), loc="left")
        ax.set(xlabel="sparsity (% of components removed)", ylabel="accuracy, AUC (%), J (points)")
        ax.label_outer()
    n = len(context.curve_seeds)
    title = f"mean of n = {n} pruning seeds" if n > 1 else "one pruning seed"
    band = "; band: its 95 % confidence interval (Student's t)" if n > 1 else ""
    there = {group: look for group, look in LOOKS.items() if group in set(curves["group"])}
    entries = [*handles(there), *crossed((curves["collapsed"] > 0).any(), "some of them collapsed (chance in-domain)")]
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries), title=title + band)
    return figure, curves


def _curves(accuracy: pd.DataFrame, context) -> pd.DataFrame:
    """Mean group accuracy over the curve's pruning seeds at each sparsity, the full model's at 0.

    low, high: 95 % interval, over what says the column `over`. Failed runs (null) are left out.
    """
    of_curve = accuracy["seed"].isin(list(context.curve_seeds)) & (accuracy["repeat"] == context.curve_repeat)
    what = f"subnetworks of pruning seeds {context.curve_seeds} at step {context.last}"
    pruned = some(accuracy[of_curve & (accuracy["step"] == context.last)], what)
    keys = ["ft_seed", "group", "sparsity"]
    full = (
        full_model(accuracy, context.last).assign(sparsity=0.0, models=1, collapsed=0).rename(columns={"unit": "over"})
    )
    points = full.to_dict("records")
    for key, of_point in pruned.groupby(keys):
        known = of_point["accuracy"].dropna()
        mean, low, high = mean_interval(known)
        row = {"accuracy": mean, "low": low, "high": high, "over": "pruning seed", "models": len(known)}
        row["collapsed"] = int(of_point["collapsed"].sum())
        points.append(dict(zip(keys, key, strict=True)) | row)
    points = pd.DataFrame(points, columns=[*keys, "accuracy", "low", "high", "over", "models", "collapsed"])
    return points.sort_values(keys, kind="stable", ignore_index=True)


def _panel(ax, curves: pd.DataFrame, context) -> None:
    curves = curves.assign(percent=100 * curves["sparsity"])
    full = curves["sparsity"] == 0
    # The full model's interval is of another kind: a whisker, no part of the band.
    bands(ax, curves[~full], "percent", "group", LOOKS)
    colours = curves.loc[full, "group"].map(COLOURS)
    ax.vlines("percent", "low", "high", colors=colours, linewidth=0.8, data=curves[full])
    lines(ax, curves, "percent", "accuracy", "group", LOOKS)
    # A mean over fewer seeds than the others is not comparable with them: hollow.
    for group, fewer in curves[~full & (curves["models"] < len(context.curve_seeds))].groupby("group"):
        hollow = {"marker": LOOKS[group].marker, "linestyle": "", "markerfacecolor": "white"}
        ax.plot(fewer["percent"], fewer["accuracy"], **hollow, markeredgecolor=LOOKS[group].colour)
    crosses(ax, *curves.loc[curves["collapsed"] > 0, ["percent", "accuracy"]].to_numpy(float).T)
    for name in ("mid", "high"):
        x = 100 * getattr(context, name)
        ax.axvline(x, color="0.4", linestyle=":", linewidth=0.9, zorder=0)
        ax.text(x, 1.01, name, transform=ax.get_xaxis_transform(), ha="center", va="bottom", fontsize=SMALL)
