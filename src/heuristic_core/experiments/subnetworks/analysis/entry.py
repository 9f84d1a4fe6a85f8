"""Determine when heads enter subnetworks during fine-tuning, and whether the full model generalises by then.

Subnetworks of fresh pruning seeds at neighbouring checkpoints show how often each head is kept. A head enters at the
first of two consecutive steps at which at least `MIN_SHARE` percent of the subnetworks keep it. The time of a head that
is
kept at the first step is censored: it entered then or before. Runs that failed, collapsed or missed their target do not
count, and a step with fewer than `MIN_RUNS` counted subnetworks is unknown.

The full model generalises from the step on at which its J, interpolated linearly between evaluations, stays at or above
half of its last value. J is 0 of a model that gives one answer.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import compute_j, select_subsets
from heuristic_core.experiments.subnetworks.analysis.counter_heads import select_counter_heads
from heuristic_core.experiments.subnetworks.analysis.outcomes import select_sound
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.columns import COMPONENT, RUN

MIN_SHARE = 75.0  # percent of subnetworks
MIN_RUNS = 3  # sound subnetworks of a step
UNKNOWN_BOUNDS = 0.0, 100.0  # percent, bounds of the share at an unknown step
CORE, COUNTER, OTHER = "core", "counter", "other"
HEAD_KEYS = [*RUN, *COMPONENT, "group"]


def compute_entry_frequency(
    components: pd.DataFrame,
    runs: pd.DataFrame,
    core: pd.DataFrame,
    context: Context,
    counter_heads: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compute table "entry_frequency" of one fine-tuning run: how many sound subnetworks keep each head, by step.

    Args:
        components: Table "components" of the run.
        runs: Table "runs" of the run.
        core: Table "core" of the run.
        context: Seeds, checkpoints and sparsity.
        counter_heads: Table "counter_heads" (columns component, group, counter); None if unknown, in which case no head
            is in group `COUNTER`.
    """
    has_seed = components["seed"].isin(list(context.entry_seeds)) & (components["repeat"] == 0)
    in_cells = has_seed & components["step"].isin(list(context.entry)) & (components["sparsity"] == context.mid)
    heads = select_sound(components[in_cells & (components["kind"] == "head")], runs)
    kept = heads.groupby([*RUN, "step", "sparsity", *COMPONENT])["kept"].agg(count="sum", n="size").reset_index()
    groups = pd.Series(OTHER, index=kept.index, dtype=object)
    if counter_heads is not None:
        groups[kept["component"].isin(select_counter_heads(counter_heads))] = COUNTER
    groups[kept["component"].isin(core.loc[core["in_core"], "component"])] = CORE
    return make_frame("entry_frequency", kept.assign(group=groups))


def compute_entry(frequency: pd.DataFrame, finetuning: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Compute table "entry" of one fine-tuning run.

    Args:
        frequency: Table "entry_frequency" of the run.
        finetuning: Table "finetune_accuracy" of the run.
        context: Checkpoints, and the subsets that enter means.
    """
    half, missing = find_half_step(finetuning, context.subsets)
    rows = []
    for key, head in frequency.assign(percent=compute_percents(frequency)).groupby(HEAD_KEYS, sort=False):
        shares = head[head["n"] >= MIN_RUNS].set_index("step")["percent"].sort_index()
        row = dict(zip(HEAD_KEYS, key, strict=True)) | find_entry(shares, context.entry) | {"half_step": half}
        if missing:
            rows.append(row | {"reason": "; ".join(filter(None, (row["reason"], missing)))})
            continue
        before, after = shares[shares.index < half], shares[shares.index >= half]
        row["before_half"] = enters_before(half, shares, context.entry)
        if len(before) and len(after):
            row["rise"] = after.mean() - before.mean()
        else:
            side = "before" if before.empty else "from"
            unknown = f"no known step of mechanism.entry.checkpoints is {side} step {half:.0f}"
            row["reason"] = "; ".join(filter(None, (row["reason"], unknown)))
        rows.append(row)
    return make_frame("entry", rows)


def compute_percents(frequency: pd.DataFrame) -> pd.Series:
    """Return the percentage of subnetworks that keep a head, for each row of table "entry_frequency"."""
    return 100.0 * frequency["count"].astype(float) / frequency["n"].astype(float)


def find_entry(shares: pd.Series, steps: tuple[int, ...]) -> dict:
    """Return the columns entry_step, censored and reason of one head; null where unknown steps could change them.

    Args:
        shares: Percent of the subnetworks that keep the head, by step; without unknown steps.
        steps: All steps, ascending.
    """
    low, high = (_first_of_two(shares, steps, bound) for bound in UNKNOWN_BOUNDS)
    if low != high:
        unknown = ", ".join(str(step) for step in steps if step not in shares.index)
        return {"reason": f"fewer than {MIN_RUNS} pruning runs are sound at {unknown}"}
    if low is not None:
        return {"entry_step": steps[low], "censored": low == 0, "reason": None}
    single = ", ".join(str(step) for step in steps if shares.get(step, 0.0) >= MIN_SHARE)
    reached = f"at {single} alone" if single else "at no step"
    return {"reason": f"{MIN_SHARE:g} % of subnetworks keep the head {reached}"}


def enters_before(half: float, shares: pd.Series, steps: tuple[int, ...]) -> bool | None:
    """Return whether a head enters before a step, or None if unknown steps decide; see :func:`find_entry`.

    Args:
        half: The step; it can lie between measured steps.
        shares: Percent of the subnetworks that keep the head, by step; without unknown steps.
        steps: All steps, ascending.
    """
    positions = [_first_of_two(shares, steps, bound) for bound in UNKNOWN_BOUNDS]
    outcomes = {position is not None and steps[position] < half for position in positions}
    return outcomes.pop() if len(outcomes) == 1 else None


def _first_of_two(shares: pd.Series, steps: tuple[int, ...], unknown: float) -> int | None:
    """Return the index of the first two consecutive steps with at least `MIN_SHARE`; `unknown` fills missing shares."""
    is_often = shares.reindex(list(steps)).fillna(unknown).to_numpy(dtype=float) >= MIN_SHARE
    both = np.flatnonzero(is_often[:-1] & is_often[1:])
    return int(both[0]) if len(both) else None


def find_half_step(finetuning: pd.DataFrame, subsets: Collection[str] | None = None) -> tuple[float | None, str | None]:
    """Find the interpolated step from which on J is at least half of its last value.

    Args:
        finetuning: Table "finetune_accuracy" of one run.
        subsets: Subsets that enter means; None for all.

    Returns:
        The step and None, or None and the reason why it is missing.
    """
    rows = select_subsets(finetuning[finetuning["subset"].notna()], subsets)
    curve = compute_j(rows, ["step"]).set_index("step")["accuracy"].dropna().sort_index()
    if curve.empty:
        return None, "no J was evaluated over fine-tuning"
    if not curve.iloc[-1] > 0:
        return None, "the full model has no J above 0 at the end of fine-tuning"
    level, values, steps = curve.iloc[-1] / 2, curve.to_numpy(dtype=float), curve.index.to_numpy(dtype=float)
    if not (below := np.flatnonzero(values < level)).size:
        return float(steps[0]), None
    last = int(below[-1])
    share = (level - values[last]) / (values[last + 1] - values[last])
    return float(steps[last] + share * (steps[last + 1] - steps[last])), None
