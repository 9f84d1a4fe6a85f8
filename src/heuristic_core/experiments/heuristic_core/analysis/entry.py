"""When heads enter subnetworks over fine-tuning, and whether the full model generalises by then.

Subnetworks of fresh pruning seeds at neighbouring checkpoints tell of each head how often it is kept. A head has
entered at the first of two consecutive steps at which at least `OFTEN` percent of the subnetworks keep it. A head that
is in at the first step entered then or before: its time is censored. Only subnetworks count whose run neither failed
nor collapsed nor missed its target; nothing is known of a step with fewer than `FEWEST` of them. The full model
generalises at the step from which on its OOD accuracy, between evaluations of fine-tuning on a straight line, is at
least half of its last value: for good, as an untrained model may reject every pair, and so have all of the OOD accuracy
that there is.
"""

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.experiments.heuristic_core.analysis.accuracy import OOD, chosen, group_means
from heuristic_core.experiments.heuristic_core.analysis.counter_heads import counter_heuristic
from heuristic_core.experiments.heuristic_core.analysis.outcomes import well
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.tables.columns import COMPONENT, RUN

OFTEN = 75.0
FEWEST = 3
BOUNDS = 0.0, 100.0  # percent, of a step of which nothing is known
CORE, COUNTER, OTHER = "core", "counter", "other"
HEAD = [*RUN, *COMPONENT, "group"]


def entry_frequency(
    components: pd.DataFrame,
    runs: pd.DataFrame,
    core: pd.DataFrame,
    context: Context,
    counter_heads: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Table "entry_frequency" of one fine-tuning run: how many sound subnetworks keep each head, by step.

    components, runs, core: tables of the run. counter_heads: the table of this name (columns component, group,
    counter); None where it is not known, and then no head is in group `COUNTER`.
    """
    of_seeds = components["seed"].isin(list(context.entry_seeds)) & (components["repeat"] == 0)
    here = of_seeds & components["step"].isin(list(context.entry)) & (components["sparsity"] == context.mid)
    heads = well(components[here & (components["kind"] == "head")], runs)
    kept = heads.groupby([*RUN, "step", "sparsity", *COMPONENT])["kept"].agg(count="sum", n="size").reset_index()
    groups = pd.Series(OTHER, index=kept.index, dtype=object)
    if counter_heads is not None:
        groups[kept["component"].isin(counter_heuristic(counter_heads))] = COUNTER
    groups[kept["component"].isin(core.loc[core["in_core"], "component"])] = CORE
    return frame("entry_frequency", kept.assign(group=groups))


def entry(frequency: pd.DataFrame, finetuning: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Table "entry" of one fine-tuning run. frequency, finetuning: tables "entry_frequency" and "finetune_accuracy"."""
    half, missing = half_step(finetuning, context.subsets)
    rows = []
    for key, head in frequency.assign(percent=percents(frequency)).groupby(HEAD, sort=False):
        shares = head[head["n"] >= FEWEST].set_index("step")["percent"].sort_index()
        row = dict(zip(HEAD, key, strict=True)) | entered(shares, context.entry) | {"half_step": half}
        if missing:
            rows.append(row | {"reason": "; ".join(filter(None, (row["reason"], missing)))})
            continue
        before, after = shares[shares.index < half], shares[shares.index >= half]
        row["before_half"] = enters_before(half, shares, context.entry)
        if len(before) and len(after):
            row["rise"] = after.mean() - before.mean()
        else:
            which = "before" if before.empty else "from"
            unknown = f"no known step of mechanism.entry.checkpoints is {which} step {half:.0f}"
            row["reason"] = "; ".join(filter(None, (row["reason"], unknown)))
        rows.append(row)
    return frame("entry", rows)


def percents(frequency: pd.DataFrame) -> pd.Series:
    """The percentage of subnetworks behind each row of table "entry_frequency" that keep its head."""
    return 100.0 * frequency["count"].astype(float) / frequency["n"].astype(float)


def entered(shares: pd.Series, steps: tuple[int, ...]) -> dict:
    """The columns entry_step, censored and reason of one head.

    shares: percent of the subnetworks that keep it, by step; a step of `steps` of which nothing is known is absent.
    All are null where this step might change them.
    """
    low, high = (_first_of_two(shares, steps, unknown) for unknown in BOUNDS)
    if low != high:
        unknown = ", ".join(str(step) for step in steps if step not in shares.index)
        return {"reason": f"fewer than {FEWEST} pruning runs went well at {unknown}"}
    if low is not None:
        return {"entry_step": steps[low], "censored": low == 0, "reason": None}
    single = ", ".join(str(step) for step in steps if shares.get(step, 0.0) >= OFTEN)
    reached = f"at {single} alone" if single else "at no step"
    return {"reason": f"{OFTEN:g} % of subnetworks keep the head {reached}"}


def enters_before(half: float, shares: pd.Series, steps: tuple[int, ...]) -> bool | None:
    """Whether a head enters at a step below `half`; None where unknown steps decide. Others as in :func:`entered`."""
    positions = [_first_of_two(shares, steps, unknown) for unknown in BOUNDS]
    either = {position is not None and steps[position] < half for position in positions}
    return either.pop() if len(either) == 1 else None


def _first_of_two(shares: pd.Series, steps: tuple[int, ...], unknown: float) -> int | None:
    """Position of the first of two consecutive `steps` with at least `OFTEN`, those without a share at `unknown`."""
    often = shares.reindex(list(steps)).fillna(unknown).to_numpy(dtype=float) >= OFTEN
    both = np.flatnonzero(often[:-1] & often[1:])
    return int(both[0]) if len(both) else None


def half_step(finetuning: pd.DataFrame, subsets=None) -> tuple[float | None, str | None]:
    """The step from which on OOD accuracy is at least half of its last value, interpolated; and why there is none.

    finetuning: table "finetune_accuracy" of one run. subsets: those that enter means; None for all.
    """
    rows = finetuning[finetuning["subset"].notna()]
    means = group_means(chosen(rows, subsets))
    curve = means[means["group"] == OOD].set_index("step")["accuracy"].dropna().sort_index()
    if curve.empty or not curve.iloc[-1] > 0:
        return None, "the full model has no OOD accuracy at the end of fine-tuning"
    level, values, steps = curve.iloc[-1] / 2, curve.to_numpy(dtype=float), curve.index.to_numpy(dtype=float)
    if not (below := np.flatnonzero(values < level)).size:
        return float(steps[0]), None
    last = int(below[-1])
    share = (level - values[last]) / (values[last + 1] - values[last])
    return float(steps[last] + share * (steps[last + 1] - steps[last])), None
