"""Compare learned subnetworks with random subnetworks and with subnetworks chosen by gradient importance."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from heuristic_core.data.sampling import sample_subset
from heuristic_core.experiments.subnetworks.analysis.accuracy import MIN_VALUES, RULES, J, select_subsets
from heuristic_core.experiments.subnetworks.analysis.contrasts import ACCURACY, Levels
from heuristic_core.experiments.subnetworks.analysis.outcomes import mark_faults, select_sound
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.means import mean_interval, widen
from heuristic_core.tables.columns import RUN, STEP, SUBSET

CONTROLS = ("learned", "random", "importance")
CELL_OF_SEEDS = [*RUN, *STEP, "sparsity"]
SUBNETWORK = [*CELL_OF_SEEDS, "seed", "control"]


def permute_heads(kept: Sequence[int], grid: ComponentGrid, rng: np.random.Generator) -> list[int]:
    """Draw a random subnetwork with the same MLPs and as many heads in each layer.

    Args:
        kept: Component indices of the learned subnetwork.
        grid: Components of the model.
        rng: Generator of the draws.

    Returns:
        Component indices, ascending.
    """
    components, permuted_indices = list(grid), [index for index in kept if index >= grid.layers * grid.heads]
    for layer in range(grid.layers):
        count = sum(components[index].kind == "head" and components[index].layer == layer for index in kept)
        permuted_indices += (layer * grid.heads + rng.permutation(grid.heads)[:count]).tolist()
    return sorted(permuted_indices)


def draw_pairs(
    predictions: pd.DataFrame, pairs: int | None = None, seed: int = 0, rule: str = "argmax-first"
) -> pd.DataFrame:
    """Draw the same evaluation pairs of each subset for every subnetwork.

    Controls and learned subnetworks are evaluated on the same pairs, because :func:`sample_subset` draws both.

    Args:
        predictions: Table "control_predictions", or table "predictions" of learned subnetworks, with pairs in the order
            of their set.
        pairs: Number of pairs per subset; None for all.
        seed: ``analysis.seed``.
        rule: ``analysis.class_rule``.

    Returns:
        Columns `SUBNETWORK`, repeat, `SUBSET`, template, pair (position among the drawn pairs of the subset) and
        accuracy (0 or 100).
    """
    rows = predictions if "control" in predictions else predictions.assign(control="learned")
    rows = rows.assign(accuracy=100.0 * rows[RULES[rule]].astype(float), pair=0)
    columns, parts = [*SUBNETWORK, "repeat", *SUBSET, "template", "pair", "accuracy"], [rows.head(0)]
    for _, part in rows.groupby([*SUBNETWORK, *SUBSET], dropna=False):
        drawn = part.iloc[sample_subset(part["label"], part["subset"].iloc[0], pairs, seed)]
        parts.append(drawn.assign(pair=np.arange(len(drawn))))
    return pd.concat(parts)[columns]


def select_sound_runs(drawn: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Leave out pruning runs that failed, collapsed or missed their target, and the random subnetworks drawn from them.

    Subnetworks chosen by importance are kept, because their seed is not a pruning seed.

    Args:
        drawn: From :func:`draw_pairs`.
        runs: Table "runs".

    Returns:
        Remaining rows of `drawn`.
    """
    chosen = drawn["control"] == "importance"  # its seed is not a pruning seed
    return pd.concat([select_sound(drawn[~chosen], runs), drawn[chosen]])


def compute_controls(
    drawn: pd.DataFrame, analysis: Analysis, runs: pd.DataFrame | None = None, context: Context | None = None
) -> pd.DataFrame:
    """Compute table "controls" by subset and by group.

    Rows of groups have a null subset and are unweighted means over the group's subsets. A random subnetwork is compared
    with the learned subnetwork whose heads it permutes. The subnetwork chosen by importance is compared with all
    learned subnetworks. The half-widths of the intervals over pruning seeds and over pairs are combined as the root of
    the sum of their squares, because all seeds share the same pairs.

    Args:
        drawn: Pairs of learned subnetworks and controls from :func:`draw_pairs`.
        analysis: Settings `bootstrap`, `seed`, and `subsets` (those that enter group means).
        runs: Table "runs", used to leave out and to count faulty runs; None if unknown.
        context: Pruning seeds, checkpoint and sparsities of the spread; required with `runs`.

    Returns:
        Table "controls".
    """
    drawn = drawn if runs is None else select_sound_runs(drawn, runs)
    accuracy = drawn.groupby([*SUBNETWORK, *SUBSET], dropna=False)["accuracy"].mean().reset_index()
    groups = select_subsets(accuracy, analysis.subsets).groupby([*SUBNETWORK, "group"], dropna=False)["accuracy"]
    half_widths, left_out = _pair_half_widths(drawn, analysis), _count_faulty(runs, context)
    rows = []
    for key, cell in pd.concat([accuracy, groups.mean().reset_index()]).groupby(
        [*CELL_OF_SEEDS, *SUBSET], dropna=False
    ):
        identity = dict(zip([*CELL_OF_SEEDS, *SUBSET], key, strict=True))
        by_control = {name: rows.set_index("seed")["accuracy"] for name, rows in cell.groupby("control")}
        subset = identity["subset"] if isinstance(identity["subset"], str) else None
        for row in _control_rows(by_control):
            half = half_widths.get((*key[: len(CELL_OF_SEEDS)], row["control"], identity["group"], subset), np.nan)
            row["left_out"] = 0 if row["control"] == "importance" else left_out.get(key[: len(CELL_OF_SEEDS)], 0)
            rows.append(identity | _widen(row, half, 100 - MIN_VALUES.get(identity["group"], 0)))
    return make_frame("controls", rows)


def _count_faulty(runs: pd.DataFrame | None, context: Context | None) -> dict[tuple, int]:
    """Count the faulty runs of the spread by the columns of `CELL_OF_SEEDS`."""
    if runs is None:
        return {}
    spread = runs[(runs["repeat"] == 0) & runs["seed"].isin(list(context.seeds))]
    faulty = mark_faults(spread).any(axis="columns")
    return faulty.groupby([spread[name] for name in CELL_OF_SEEDS]).sum().to_dict()


def _pair_half_widths(drawn: pd.DataFrame, analysis: Analysis) -> dict[tuple, float]:
    """Compute half-widths, in points, of the intervals over pairs of paired mean differences.

    Returns:
        Half-widths by the columns of `CELL_OF_SEEDS`, control, group and subset (None for a group).
    """
    pair = ["subset", "group", "family", "template", "pair"]
    accuracy = drawn.assign(**{name: drawn[name].astype(object).fillna("") for name in pair[:4]})
    half_widths = {}
    for key, cell in accuracy.groupby([*CELL_OF_SEEDS], dropna=False):
        by_pair = {
            name: rows.pivot(index=pair, columns="seed", values="accuracy") for name, rows in cell.groupby("control")
        }
        differences = {
            name: (by_pair["learned"].mean(axis=1) - values.mean(axis=1)).to_numpy()
            if name == "importance"
            else (by_pair["learned"] - values).dropna(axis=1).mean(axis=1).to_numpy()
            for name, values in by_pair.items()
            if name != "learned" and "learned" in by_pair
        }
        if not differences:
            continue
        pairs = by_pair["learned"].index.to_frame(index=False).replace("", None)
        levels = Levels(pairs, analysis.subsets, analysis.bootstrap, analysis.seed)
        resampled = levels.resample(np.stack(list(differences.values()), axis=1))
        for level in levels.levels:
            about = level.identity
            if about["group"] == J or (about["subset"] is None and about["family"] is not None):
                continue
            _, low, high = levels.estimate_effects(level, resampled, ACCURACY)
            for name, half in zip(differences, (high - low) / 2, strict=True):
                half_widths[(*key, name, about["group"], about["subset"])] = float(half)
    return half_widths


def _widen(row: dict, half_width: float, limit: float) -> dict:
    """Add the half-width over pairs to the interval of a row's difference over seeds, which ends at most at `limit`."""
    if "difference" not in row:
        return row
    ends = widen(row["difference"], row["difference_low"], row["difference_high"], half_width)
    low, high = np.clip(ends, -limit, limit)
    ends = {"difference_low": low, "difference_high": high}
    return row | ends | {"pair_half_width": half_width}


def _control_rows(accuracy: dict[str, pd.Series]) -> list[dict]:
    """Return the rows of a subset or group; `accuracy` is by control, then by pruning seed."""
    rows = []
    for name in CONTROLS:
        if name not in accuracy:
            continue
        values = accuracy[name]
        row = {"control": name, "n": len(values), "accuracy": values.mean(), "sd": values.std()}
        if name != "learned" and "learned" in accuracy:
            reference = values.mean() if name == "importance" else values
            difference, low, high = mean_interval((accuracy["learned"] - reference).dropna())
            row |= {"difference": difference, "difference_low": low, "difference_high": high}
        rows.append(row)
    return rows
