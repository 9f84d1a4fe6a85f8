"""Figure 3: the full model beside the highest, the lowest and the most unlike mid-sparsity subnetwork, by subset."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.patches import Patch

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import OOD
from heuristic_core.experiments.subnetworks.analysis.outcomes import with_collapses
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.collapsed import draw_crosses, make_cross_handles
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import (
    CELL_MARKS,
    average_j,
    ft_seeds,
    map_subset_groups,
    resolve_subsets,
    select_full_model,
    select_subnetworks,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_panels, set_percent_axis, vertical_label_height
from heuristic_core.figures.style import SMALL_FONT_SIZE
from heuristic_core.figures.text import format_percent, format_seed

FULL_MODEL, HIGHEST, LOWEST, UNLIKE = "full model", "highest", "lowest", "unlike"
COLOURS = {FULL_MODEL: "black", HIGHEST: "#455A64", LOWEST: "#90A4AE", UNLIKE: "#CFD8DC"}  # shades of subnetworks
NAMES = {HIGHEST: "highest {}", LOWEST: "lowest {}", UNLIKE: "most unlike the average, family by family"}
WIDTH = 0.8  # of all bars of a subset; subsets are 1 apart
CHARACTERS_PER_INCH = 16  # of tick labels that fit side by side into an inch
WHISKER = {"color": "0.25", "linewidth": 0.6}
MARKS = [*CELL_MARKS[:4], "role", *CELL_MARKS[4:]]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a panel for each fine-tuning seed.

    Args:
        tables: Data frames by schema name: "accuracy", and "runs" if the study has it.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per bar, with the ends of its whisker. `role` says why a subnetwork is shown.
    """
    accuracy = tables["accuracy"]
    full = select_full_model(accuracy, context.last)
    cell = select_subnetworks(accuracy, context.last, context.mid, context.seeds)
    groups = map_subset_groups(full, resolve_subsets(settings, context))
    if settings.subsets is None:
        groups = {subset: group for subset, group in groups.items() if group != "ood-entailment"}
    choices, measure = _choose_subnetworks(cell)
    marks = pd.concat([full.assign(role=FULL_MODEL), cell.merge(choices, on=["ft_seed", "seed"])])
    marks = with_collapses(marks[marks["subset"].isin(list(groups))], tables.get("runs"))
    seeds = ft_seeds(full)
    # Names are upright where they would otherwise run into each other.
    crowded = len(groups) * max(map(len, groups)) > CHARACTERS_PER_INCH * settings.width
    height = 1.75 * len(seeds) + 0.5 + (vertical_label_height(groups) if crowded else 0.2)
    figure, axes = make_panels(settings, len(seeds), 1, height, sharex=True)
    for ax, ft_seed in zip(axes[:, 0], seeds, strict=True):
        _draw_panel(ax, marks[marks["ft_seed"] == ft_seed], groups)
        chosen = choices[choices["ft_seed"] == ft_seed]
        pruning_seeds = ", ".join(map(str, chosen["seed"]))
        ax.set_title(f"{format_seed(ft_seed)}; subnetworks of pruning seeds {pruning_seeds}", loc="left", pad=15)
    axes[-1, 0].set_xticks(range(len(groups)), list(groups), rotation=90 if crowded else 0)
    names = {role: NAMES.get(role, role).format(measure) for role in COLOURS if role in set(marks["role"])}
    entries = [Patch(color=COLOURS[role], label=name) for role, name in names.items()]
    entries += make_cross_handles(marks["collapsed"].any(), "collapsed: at chance in-domain")
    title = f"the full model, and subnetworks of {format_percent(context.mid)} sparsity chosen by rule"
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries), title=title, handlelength=1.2)
    return figure, marks[[*MARKS, "collapsed"]]


def _choose_subnetworks(cell: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Choose up to three subnetworks of each fine-tuning seed by a rule that sees only their accuracies.

    They are the one with the highest and the one with the lowest J, or mean OOD accuracy without an entailment group,
    and of the others the one whose mean OOD accuracies by family, each minus the mean over all subnetworks, spread
    most (standard deviation). The lower pruning seed wins ties.

    Returns:
        Columns ft_seed, seed and role, and the name of the measure.
    """
    keys = ["ft_seed", "seed"]
    ood = cell[cell["group"] == OOD]
    scores, measure = average_j(cell, keys), ROLES["j"].label
    if scores.empty:
        scores, measure = ood.groupby(keys, as_index=False)["accuracy"].mean(), "OOD accuracy"
    ood = ood.assign(part=ood["family"] if ood["family"].notna().any() else ood["subset"])
    profiles = ood.groupby([*keys, "part"])["accuracy"].mean()
    spread = (profiles - profiles.groupby(["ft_seed", "part"]).transform("mean")).groupby(keys).std(ddof=0)
    choices = []
    for ft_seed, rows in scores.dropna(subset="accuracy").sort_values(keys, kind="stable").groupby("ft_seed"):
        score = rows.set_index("seed")["accuracy"].astype(float)
        chosen = {HIGHEST: score.idxmax()}
        if len(rest := score.drop(chosen[HIGHEST])):
            chosen[LOWEST] = rest.idxmin()
        if len(others := spread.loc[ft_seed].drop(list(chosen.values()), errors="ignore").dropna()):
            chosen[UNLIKE] = others.sort_index().idxmax()
        choices += [{"ft_seed": ft_seed, "seed": seed, "role": role} for role, seed in chosen.items()]
    return pd.DataFrame(choices, columns=[*keys, "role"]), measure


def _draw_panel(ax, rows: pd.DataFrame, groups: dict[str, str]) -> None:
    """Draw one bar per model and subset, in the order of both; a missing value leaves its place empty."""
    order = {
        "role": pd.Categorical(rows["role"], list(COLOURS)),
        "subset": pd.Categorical(rows["subset"], list(groups)),
    }
    rows = rows.assign(**order).dropna(subset="accuracy").sort_values(["role", "subset"])
    sns.barplot(
        rows, x="subset", y="accuracy", hue="role", palette=COLOURS, saturation=1, errorbar=None, width=WIDTH, gap=0.1,
        linewidth=0, legend=False, ax=ax,
    )  # fmt: skip
    left, width = np.array([(bar.get_x(), bar.get_width()) for bar in ax.patches]).reshape(-1, 2).T
    # A bar of height zero would look like a missing one; its top does not.
    ax.hlines(
        rows["accuracy"], left, left + width, color=[COLOURS[role] for role in rows["role"]], linewidth=1.2, zorder=3
    )
    ax.vlines(left + width / 2, rows["low"], rows["high"], **WHISKER, zorder=4)
    draw_crosses(ax, (left + width / 2)[rows["collapsed"]], rows.loc[rows["collapsed"], "accuracy"])
    set_percent_axis(ax.yaxis)
    ax.set(xlim=(-0.5, len(groups) - 0.5), xlabel="", ylabel="accuracy (%)")
    ax.spines["bottom"].set_position(("data", 0))
    ax.tick_params("x", length=0)
    names = list(groups)
    for group in dict.fromkeys(groups.values()):
        places = [k for k, name in enumerate(names) if groups[name] == group]
        ax.text(
            (places[0] + places[-1]) / 2, 1.01, ROLES[group].label, transform=ax.get_xaxis_transform(), ha="center",
            va="bottom", fontsize=SMALL_FONT_SIZE, color=ROLES[group].colour,
        )  # fmt: skip
        if places[0]:
            ax.axvline(places[0] - 0.5, color="0.4", linestyle="--", linewidth=0.7)
