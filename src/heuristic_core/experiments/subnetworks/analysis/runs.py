"""Outcome of every pruning run: the sparsity it reached, and whether its subnetwork still performs the task.

A run has *missed* its target if the sparsity of its subnetwork, or of the gates at the end of pruning, differs from the
target by more than `TOLERANCE`: the exact-k rule cuts gates of any sparsity to k components, although they were learned
at another sparsity. The subnetwork may also be off by half a component, and by the tolerance of the threshold rule if
that rule was used. Gates may be off by one component, the smallest possible change. Gates are not judged if the
controller steers the expected sparsity, which differs from the sparsity of sampled gates.

A run has *collapsed* if its subnetwork is at chance in-domain: the interval of its ID accuracy is not above the
accuracy of always predicting the most frequent label, while the interval of the full model is. A run that removed all
heads of a layer is neither. A failed run, which diverged, has a reason and nulls.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from heuristic_core.config.pruning import THRESHOLD_TOLERANCE
from heuristic_core.experiments.subnetworks.analysis.accuracy import select_subsets
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.columns import CELL

TOLERANCE = 0.02  # largest difference between target and actual sparsity
END_COLUMNS = ("target_sparsity", "sampled_sparsity", "kl")  # columns of a trace that are averaged over its end
END_SHARE = 0.1  # share of the recorded steps of pruning, the last ones, that the end is averaged over


def compute_runs(
    pruning_runs: Sequence[Subnetwork | FailedRun],
    traces: pd.DataFrame,
    groups: pd.DataFrame,
    chance: float | None,
    controller: str = "sampled",
) -> pd.DataFrame:
    """Make table "runs" of one checkpoint.

    Args:
        pruning_runs: Pruning runs, in the order of the rows.
        traces: Table "prune_trace" of the checkpoint; columns `CELL` and `END_COLUMNS` suffice.
        groups: Table "group_accuracy" of the checkpoint.
        chance: Accuracy at chance, percent, from :func:`compute_chance`; None if unknown.
        controller: Setting ``prune.controller``.

    Returns:
        A row for each run.
    """
    by_run = dict(tuple(traces.groupby([*CELL])))
    id_ = groups[groups["group"] == "id"]
    full = id_.loc[id_["seed"].isna(), "low"]
    full_is_above_chance = chance is not None and bool((full > chance).any())
    accuracy = id_[id_["seed"].notna()].set_index([*CELL])[["accuracy", "low", "high"]]
    rows = []
    for run in pruning_runs:
        row = run.identity._asdict() | {"chance": chance}
        if isinstance(run, FailedRun):
            rows.append(row | {"reason": run.reason})
            continue
        key = tuple(row[name] for name in CELL)
        row |= {"actual_sparsity": run.actual_sparsity, "rule": run.rule} | _average_end(by_run[key])
        if key in accuracy.index:
            row |= accuracy.loc[key].add_prefix("id_").to_dict()
        missed = _missed(run, row, controller == "sampled")
        collapsed = describe_chance(row) if full_is_above_chance else None
        rows.append(
            row
            | {
                "missed": bool(missed),
                "collapsed": bool(collapsed),
                "reason": "; ".join(filter(None, (missed, collapsed))) or None,
            }
        )
    return make_frame("runs", rows)


def check_end(subnetwork: Subnetwork, trace: pd.DataFrame, controller: str = "sampled") -> tuple[float, str | None]:
    """Return the sparsity of the gates at the end of a run, and how the run missed its target.

    Args:
        subnetwork: The subnetwork of the run.
        trace: Rows of the run in table "prune_trace".
        controller: Setting ``prune.controller``.

    Returns:
        Sparsity, and a reason; None if the run reached its target.
    """
    row = _average_end(trace)
    return row["gate_sparsity"], _missed(subnetwork, row, controller == "sampled")


def compute_chance(predictions: pd.DataFrame, subsets: Sequence[str] | None = None) -> float | None:
    """Compute the ID accuracy of always predicting the label that does best, as an unweighted mean over ID subsets.

    Args:
        predictions: Table "predictions" of one checkpoint.
        subsets: Subsets that enter group means; None for all.

    Returns:
        Percent; None if no ID subset enters group means.
    """
    full = select_subsets(predictions[predictions["seed"].isna()], subsets)
    id_predictions = full[full["group"] == "id"]
    if id_predictions.empty:
        return None
    shares = (
        id_predictions.groupby("subset", observed=True)["label"].value_counts(normalize=True).unstack(fill_value=0.0)
    )
    return float(100 * shares.mean().max())


def _average_end(trace: pd.DataFrame) -> dict:
    """Average the columns of a trace over its end."""
    last = trace.tail(max(1, round(END_SHARE * len(trace))))
    gap = last["target_sparsity"] - last["sampled_sparsity"]
    return {"gate_sparsity": last["sampled_sparsity"].mean(), "gap": gap.mean(), "kl": last["kl"].mean()}


def is_off_target(gap: float, size: int) -> bool:
    """Return whether gates missed the target sparsity.

    Args:
        gap: Difference from the target sparsity at the end of pruning.
        size: Number of components.
    """
    return abs(gap) > max(TOLERANCE, 1 / size) + 1e-9


def _missed(subnetwork: Subnetwork, row: dict, judge_gates: bool) -> str | None:
    """Return how a run missed its target, or None; sparsities are means of floats, so rounding is allowed."""
    allowed = max(TOLERANCE if subnetwork.threshold is None else THRESHOLD_TOLERANCE, 0.5 / len(subnetwork.grid)) + 1e-9
    target, actual = subnetwork.identity.sparsity, subnetwork.actual_sparsity
    if abs(actual - target) > allowed:
        return f"the subnetwork has sparsity {actual:.3f}, not {target:g}"
    if judge_gates and is_off_target(row["gap"], len(subnetwork.grid)):
        return f"the gates ended {abs(row['gap']):.3f} {'below' if row['gap'] > 0 else 'above'} sparsity {target:g}"
    return None


def describe_chance(row: Mapping) -> str | None:
    """Return how a subnetwork is at chance in-domain; None if it is not.

    Args:
        row: Row of table "runs", or a mapping with its columns.
    """
    if row["id_low"] > row["chance"]:
        return None
    return (
        f"ID accuracy {row['id_accuracy']:.1f} % (from {row['id_low']:.1f}) is not above chance, {row['chance']:.1f} %"
    )
