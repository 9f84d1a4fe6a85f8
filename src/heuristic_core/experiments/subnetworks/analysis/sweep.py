"""Cost of ablating the core in studies that differ in one setting, compared with random heads of the same layers."""

from collections.abc import Mapping, Sequence

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import ENTAILMENT, ID, OOD, J
from heuristic_core.experiments.subnetworks.analysis.joint_ablation import WHOLE_CORE, select_controls
from heuristic_core.tables.columns import RUN

GROUPS = (ID, OOD, ENTAILMENT, J)
VALUES = ["ft_seed", "group", "core", "full", "change", "low", "high", "random", "reason"]
COLUMNS = ["axis", "value", "study", *VALUES]


def compute_sweep(tables: Sequence[pd.DataFrame], studies: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Make the table of a sweep.

    An axis has the first study and all studies that differ from it on this axis only.

    Args:
        tables: Table "ablations" of each study, in the order of `studies`.
        studies: Value of each study on each axis, by name.

    Returns:
        A row for each axis, study, fine-tuning seed and group of subsets. Columns: axis, value, study, ft_seed, group,
        core (its heads), full (percent; for J points), change (points, without the core) with its interval low and
        high, random (mean change of random sets), reason (why change is null).
    """
    first = next(iter(studies.values()))
    rows = []
    for axis in first:
        for table, (study, values) in zip(tables, studies.items(), strict=True):
            if all(values[other] == first[other] for other in first if other != axis):
                identity = {"axis": axis, "value": values[axis], "study": study}
                rows += [identity | row for row in _costs(table)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _costs(table: pd.DataFrame) -> list[dict]:
    """Return the rows of one study."""
    table = table[table["subset"].isna() & table["group"].isin(GROUPS) & (table["kind"] == table["kind"].iloc[0])]
    return [row for _, run in table.groupby([*RUN], sort=True) for row in _compute_run_costs(run)]


def _compute_run_costs(rows: pd.DataFrame) -> list[dict]:
    """Return the rows of one fine-tuning run, one for each group."""
    role = next((role for role in WHOLE_CORE if (rows["role"] == role).any()), None)
    core = rows[rows["role"] == role] if role else rows.head(0)
    core = core[core["ablation"] == core["ablation"].iloc[0]] if role else core
    random = select_controls(rows, core.iloc[0]) if len(core) else core
    cost_rows = []
    for group in GROUPS:
        full = rows[(rows["role"] == "none") & (rows["group"] == group)]
        if full.empty:
            continue
        identity = {"ft_seed": full["ft_seed"].iloc[0], "group": group, "full": full["accuracy"].iloc[0]}
        group_rows = core[core["group"] == group]
        if group_rows.empty:
            cost_rows.append(identity | {"reason": "no head is in all subnetworks"})
            continue
        row = group_rows.iloc[0]
        cost = {"core": row["ablation"], "change": row["change"], "low": row["change_low"], "high": row["change_high"]}
        mean = random.loc[random["group"] == group, "change"].mean()
        cost_rows.append(identity | cost | {"random": mean, "reason": None})
    return cost_rows
