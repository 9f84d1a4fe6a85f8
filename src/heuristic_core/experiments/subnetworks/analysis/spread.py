"""Compute the spread of subnetworks over pruning seeds, fine-tuning seeds, and repeated runs of a pruning seed."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import MIN_VALUES
from heuristic_core.experiments.subnetworks.analysis.outcomes import select_sound
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.means import bound_mean
from heuristic_core.stats.seeds import CONFIDENCE_LEVEL, FINE_TUNING_SEEDS, PRUNING_SEEDS
from heuristic_core.tables.columns import RUN, STEP, SUBSET

STUDY_KEYS = [name for name in RUN if name != "ft_seed"]
TAIL = (1 - CONFIDENCE_LEVEL) / 2


def select_spread(accuracy: pd.DataFrame, group_accuracy: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Select the accuracies of the full model and of the first run of each subnetwork in the spread.

    Args:
        accuracy: Table "accuracy".
        group_accuracy: Table "group_accuracy".
        context: Context of the study.

    Returns:
        Rows of subsets, followed by rows of groups (subset null).
    """
    rows = pd.concat([accuracy, group_accuracy.assign(subset=None, family=None)])
    in_spread = rows["sparsity"].isin([context.mid, context.high]) & rows["seed"].isin(list(context.seeds))
    selected = (rows["step"] == context.last) & (rows["repeat"] == 0) & (in_spread | rows["seed"].isna())
    return rows[selected]


def compute_summary(
    accuracy: pd.DataFrame, group_accuracy: pd.DataFrame, context: Context, runs: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Compute table "summary" of the last checkpoint's subnetworks at mid and high sparsity.

    Rows over pruning seeds are by fine-tuning seed. Rows over fine-tuning seeds, which are the unit of claims about a
    way of training, are for the full model, mid and high sparsity. Runs that failed, collapsed or missed their target
    are left out.

    Args:
        accuracy: Table "accuracy".
        group_accuracy: Table "group_accuracy".
        context: Context of the study.
        runs: Table "runs"; None if unknown.

    Returns:
        Means, standard deviations, ranges and intervals by subset and group, percent (J: points).
    """
    rows = select_spread(accuracy, group_accuracy, context)
    rows = rows.assign(pair_half_width=((rows["high"] - rows["low"]) / 2).astype(float), left_out=0)
    full, pruned, cell = rows[rows["seed"].isna()], rows[rows["seed"].notna()], [*STEP, "sparsity", *SUBSET]
    if runs is not None:
        sound = select_sound(pruned.assign(row=range(len(pruned))), runs)["row"]
        faulty = ~pd.Series(range(len(pruned)), pruned.index).isin(sound)
        pruned = pruned.assign(accuracy=pruned["accuracy"].mask(faulty), left_out=faulty.astype(int))
    over_pruning = _summarise(pruned, [*RUN, *cell], PRUNING_SEEDS)
    over_tuning = pd.concat([over_pruning.rename(columns={"mean": "accuracy"}), full])
    over_tuning = _summarise(over_tuning, [*STUDY_KEYS, *cell], FINE_TUNING_SEEDS)
    return make_frame("summary", pd.concat([over_pruning, over_tuning]))


def _summarise(rows: pd.DataFrame, keys: list[str], over: str) -> pd.DataFrame:
    """Summarise accuracy over the seeds `over`, by `keys`.

    Seeds may pile up at 0 or 100 %, where Student's interval is too narrow; see :func:`.bound_mean`. Seeds that agree
    anywhere else have no interval. Seeds share evaluation pairs, so errors over pairs do not average out over seeds.
    Their half-width is added to the distance of each end as the root of the sum of squares.
    """
    rows = rows.assign(pair_half_width=rows["pair_half_width"].where(rows["accuracy"].notna()))
    cells = rows.groupby(keys, dropna=False, sort=False)
    table = cells["accuracy"].agg(n="count", mean="mean", sd="std", min="min", max="max").reset_index()
    more = cells.agg(pair_half_width=("pair_half_width", "mean"), left_out=("left_out", "sum"))
    table = table.assign(**{name: more[name].to_numpy() for name in more})
    limits = [(MIN_VALUES.get(group, 0.0), 100.0) for group in table["group"]]
    samples = [values.dropna().to_numpy(dtype=float) for _, values in cells["accuracy"]]
    for end, tail in (("low", TAIL), ("high", 1 - TAIL)):
        over_seeds = [
            bound_mean(values, tail, cell_limits) for values, cell_limits in zip(samples, limits, strict=True)
        ]
        half_width = np.hypot(over_seeds - table["mean"], table["pair_half_width"].fillna(0))
        # with few seeds, the ends can be outside of the possible range
        table[end] = (table["mean"] + (half_width if tail > 0.5 else -half_width)).clip(*np.transpose(limits))
    return table.assign(over=over)


def compute_variance(
    accuracy: pd.DataFrame,
    group_accuracy: pd.DataFrame,
    context: Context,
    components: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compute table "variance": the variation between pruning seeds, and between two runs of the same seed.

    Two runs with the same configuration and seed differ only in what the seed does not determine: the order of
    floating-point sums (on a GPU, or if seeds share a pass) or, in published results, the rule for the mask. For
    differences d_i of n repeated seeds, within_sd = sqrt(sum d_i^2 / 2n) is the standard deviation of a single run.

    Args:
        accuracy: Table "accuracy".
        group_accuracy: Table "group_accuracy".
        context: Context of the study.
        components: Table "components", to compare the masks of both runs; None if unknown.

    Returns:
        A row for each fine-tuning run, sparsity, and subset or group.
    """
    rows = pd.concat([accuracy, group_accuracy.assign(subset=None, family=None)])
    selected = (rows["step"] == context.last) & rows["sparsity"].isin([context.mid, context.high])
    rows = rows[selected & rows["seed"].isin(list(context.seeds))]
    equal_masks = _count_equal_masks(components, context) if components is not None else {}
    records = []
    for keys, cell in rows.groupby([*RUN, *STEP, "sparsity", *SUBSET], dropna=False, sort=False):
        runs = cell.pivot(index="seed", columns="repeat", values="accuracy").reindex(columns=[0, 1])
        difference = (runs[1] - runs[0]).dropna()
        identity = dict(zip([*RUN, *STEP, "sparsity", *SUBSET], keys, strict=True))
        records.append(
            identity
            | {
                "between_sd": runs[0].std(),
                "seeds": runs[0].count(),
                "within_sd": np.sqrt((difference**2).mean() / 2) if len(difference) else None,
                "repeated": len(difference),
                "same_masks": equal_masks.get((identity["ft_seed"], identity["sparsity"])),
            }
        )
    return make_frame("variance", records)


def _count_equal_masks(components: pd.DataFrame, context: Context) -> dict[tuple, int]:
    """Count the seeds whose two runs kept the same components, by fine-tuning seed and sparsity."""
    selected = (components["step"] == context.last) & components["seed"].isin(list(context.repeats))
    return {
        key: sum(_compare_repeats(cell))
        for key, cell in components[selected].groupby(["ft_seed", "sparsity"])
        if _is_repeated(cell)
    }


def _is_repeated(cell: pd.DataFrame) -> bool:
    """Return whether a cell has repeated runs."""
    return cell["repeat"].nunique() > 1


def _compare_repeats(cell: pd.DataFrame) -> Iterator[bool]:
    """Yield, for each seed, whether both runs kept the same components."""
    for _, runs in cell.groupby("seed"):
        kept = runs.pivot(index="component", columns="repeat", values="kept")
        yield kept.shape[1] == 2 and bool((kept[0] == kept[1]).all())
