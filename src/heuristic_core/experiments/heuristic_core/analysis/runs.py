"""What became of every pruning run: the sparsity it reached, and whether its subnetwork still does the task.

A run has *missed* its target where the sparsity of its subnetwork, or of the gates at the end of pruning, is further
than `TOLERANCE` from the target: exact k cuts gates of any sparsity to k components, which were learned at another
sparsity. The subnetwork itself may be off by half a component, and by the threshold rule's own tolerance where this
rule decided; gates by one component, the least that a cut can move. Gates are not judged where the controller steers
the expected sparsity, which is not the sparsity of gates. A run has *collapsed* where its subnetwork is at chance
in-domain: the interval of its ID accuracy is not above the accuracy of always giving the most frequent label, though
the full model's interval is. A run that removed all heads of a layer is neither. A failed run, which diverged, has a
reason, and nulls.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.config.pruning import THRESHOLD_TOLERANCE
from heuristic_core.experiments.heuristic_core.analysis.accuracy import chosen
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork
from heuristic_core.tables.columns import CELL

TOLERANCE = 0.02  # in sparsity, between the target and what was reached
ENDS = ("target_sparsity", "sampled_sparsity", "kl")  # what of a trace counts there
END = 0.1  # of the recorded steps of pruning: the last ones, over which the end is averaged


def runs(
    found: Sequence[Subnetwork | FailedRun],
    traces: pd.DataFrame,
    groups: pd.DataFrame,
    chance: float | None,
    controller: str = "sampled",
) -> pd.DataFrame:
    """Table "runs" of one checkpoint, in the order of `found`.

    traces, groups: its tables "prune_trace", of which columns `CELL` and `ENDS` suffice, and "group_accuracy".
    chance: percent, as :func:`chance` gives it.
    controller: ``prune.controller``.
    """
    by_run = dict(tuple(traces.groupby([*CELL])))
    id_ = groups[groups["group"] == "id"]
    full = id_.loc[id_["seed"].isna(), "low"]
    learned = chance is not None and bool((full > chance).any())
    accuracy = id_[id_["seed"].notna()].set_index([*CELL])[["accuracy", "low", "high"]]
    rows = []
    for one in found:
        row = one.identity._asdict() | {"chance": chance}
        if isinstance(one, FailedRun):
            rows.append(row | {"reason": one.reason})
            continue
        key = tuple(row[name] for name in CELL)
        row |= {"actual_sparsity": one.actual_sparsity, "rule": one.rule} | _end(by_run[key])
        if key in accuracy.index:
            row |= accuracy.loc[key].add_prefix("id_").to_dict()
        missed = _missed(one, row, controller == "sampled")
        lost = at_chance(row) if learned else None
        rows.append(
            row
            | {
                "missed": bool(missed),
                "collapsed": bool(lost),
                "reason": "; ".join(filter(None, (missed, lost))) or None,
            }
        )
    return frame("runs", rows)


def end_of(one: Subnetwork, trace: pd.DataFrame, controller: str = "sampled") -> tuple[float, str | None]:
    """The gates' sparsity at the end of a run, and in what way the run missed its target; None if it did not.

    trace: its rows of table "prune_trace". controller: ``prune.controller``.
    """
    row = _end(trace)
    return row["gate_sparsity"], _missed(one, row, controller == "sampled")


def chance(predictions: pd.DataFrame, subsets: Sequence[str] | None = None) -> float | None:
    """ID accuracy, percent, of always giving the one label that does best: the unweighted mean over ID subsets.

    predictions: table "predictions" of one checkpoint. subsets: as in group means; None for all. None where
    no ID subset does.
    """
    full = chosen(predictions[predictions["seed"].isna()], subsets)
    of_id = full[full["group"] == "id"]
    if of_id.empty:
        return None
    shares = of_id.groupby("subset", observed=True)["label"].value_counts(normalize=True).unstack(fill_value=0.0)
    return float(100 * shares.mean().max())


def _end(trace: pd.DataFrame) -> dict:
    """Means over the end of a run's trace."""
    last = trace.tail(max(1, round(END * len(trace))))
    gap = last["target_sparsity"] - last["sampled_sparsity"]
    return {"gate_sparsity": last["sampled_sparsity"].mean(), "gap": gap.mean(), "kl": last["kl"].mean()}


def off_target(gap: float, size: int) -> bool:
    """Whether gates of `size` components that ended `gap` from the target sparsity missed it."""
    return abs(gap) > max(TOLERANCE, 1 / size) + 1e-9


def _missed(one: Subnetwork, row: dict, judge_gates: bool) -> str | None:
    """In what way a run missed its target; None if it did not. Sparsities are means of floats: rounding is allowed."""
    allowed = max(TOLERANCE if one.threshold is None else THRESHOLD_TOLERANCE, 0.5 / len(one.grid)) + 1e-9
    target, actual = one.identity.sparsity, one.actual_sparsity
    if abs(actual - target) > allowed:
        return f"the subnetwork has sparsity {actual:.3f}, not {target:g}"
    if judge_gates and off_target(row["gap"], len(one.grid)):
        return f"the gates ended {abs(row['gap']):.3f} {'below' if row['gap'] > 0 else 'above'} sparsity {target:g}"
    return None


def at_chance(row: Mapping) -> str | None:
    """In what way a subnetwork is at chance in-domain; None where it is above. row: of table "runs", or as there."""
    if row["id_low"] > row["chance"]:
        return None
    return (
        f"ID accuracy {row['id_accuracy']:.1f} % (from {row['id_low']:.1f}) is not above chance, {row['chance']:.1f} %"
    )
