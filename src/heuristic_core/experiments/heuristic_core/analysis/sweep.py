"""What ablating the core costs in studies that differ in a setting, beside random sets of heads of the same layers."""

from collections.abc import Mapping, Sequence

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.accuracy import ENTAILMENT, ID, OOD, J
from heuristic_core.experiments.heuristic_core.analysis.joint_ablation import WHOLE_CORE, matched
from heuristic_core.tables.columns import RUN

GROUPS = (ID, OOD, ENTAILMENT, J)
VALUES = ["ft_seed", "group", "core", "full", "change", "low", "high", "random", "reason"]
COLUMNS = ["axis", "value", "study", *VALUES]


def sweep(tables: Sequence[pd.DataFrame], studies: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """One row for each axis, study on it, fine-tuning seed and group of subsets.

    tables: table "ablations" of every study, in the order of `studies`, which has each study's value on every axis.
    On an axis are the first study and those that differ from it there alone.
    Columns: axis, value, study, ft_seed, group, core (its heads), full (percent; of J points), change (points, without
    the core) with its interval low and high, random (mean change of random sets), reason (why change is null).
    """
    first = next(iter(studies.values()))
    rows = []
    for axis in first:
        for table, (study, values) in zip(tables, studies.items(), strict=True):
            if all(values[other] == first[other] for other in first if other != axis):
                about = {"axis": axis, "value": values[axis], "study": study}
                rows += [about | row for row in _costs(table)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _costs(table: pd.DataFrame) -> list[dict]:
    table = table[table["subset"].isna() & table["group"].isin(GROUPS) & (table["kind"] == table["kind"].iloc[0])]
    return [row for _, run in table.groupby([*RUN], sort=True) for row in _of_run(run)]


def _of_run(rows: pd.DataFrame) -> list[dict]:
    role = next((role for role in WHOLE_CORE if (rows["role"] == role).any()), None)
    core = rows[rows["role"] == role] if role else rows.head(0)
    core = core[core["ablation"] == core["ablation"].iloc[0]] if role else core
    random = matched(rows, core.iloc[0]) if len(core) else core
    found = []
    for group in GROUPS:
        full = rows[(rows["role"] == "none") & (rows["group"] == group)]
        if full.empty:
            continue
        about = {"ft_seed": full["ft_seed"].iloc[0], "group": group, "full": full["accuracy"].iloc[0]}
        of_group = core[core["group"] == group]
        if of_group.empty:
            found.append(about | {"reason": "no head is in all subnetworks"})
            continue
        one = of_group.iloc[0]
        cost = {"core": one["ablation"], "change": one["change"], "low": one["change_low"], "high": one["change_high"]}
        mean = random.loc[random["group"] == group, "change"].mean()
        found.append(about | cost | {"random": mean, "reason": None})
    return found
