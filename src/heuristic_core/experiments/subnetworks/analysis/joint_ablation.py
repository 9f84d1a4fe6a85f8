"""Select the rows of table "ablations" about ablating the whole core at once."""

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import LABELS, MIN_VALUES
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.stats.estimates import NotComputable

# Role of the set of all core heads, which depends on the size of the core: a core of three heads has role "strongest".
# The strongest three of a larger core were selected by their cost, so comparing them with random sets would be biased.
WHOLE_CORE = ("core-all", "strongest", "pair", "core")


def select_joint_ablation(evidence: Evidence) -> pd.DataFrame:
    """Return the rows of the whole core for the first kind of ablation.

    Raises:
        NotComputable: If no core head was ablated.
    """
    return next(iter(select_joint_ablations(evidence).values()))


def select_joint_ablations(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """Return the rows of the whole core by kind of ablation, in the order of the table.

    Raises:
        NotComputable: If no core head was ablated.
    """
    evidence.require_sound("mid", "high")
    table = evidence.table("ablations")
    for role in WHOLE_CORE:
        rows = table[table["role"] == role]
        if len(rows):
            rows = rows[rows["ablation"] == rows["ablation"].iloc[0]]
            return {kind: rows[rows["kind"] == kind] for kind in rows["kind"].unique()}
    raise NotComputable("no core head was ablated")


def select_group_row(rows: pd.DataFrame, group: str) -> pd.Series:
    """Return the row of one ablation on a group.

    Args:
        rows: Rows of one ablation in table "ablations".
        group: Name of the group.

    Raises:
        NotComputable: If the change of accuracy is missing.
    """
    group_rows = rows[rows["subset"].isna() & (rows["group"] == group)].dropna(subset="change")
    return require_rows(group_rows, f"{LABELS[group]} of ablation {rows['ablation'].iloc[0]}").iloc[0]


def get_full_accuracy(row: pd.Series) -> float:
    """Return the full model's accuracy on the pairs of a row of table "ablations" (J: points).

    These can be fewer than all pairs (`analysis.ablation_pairs`), which are those of :meth:`.Evidence.full`.
    """
    return row["accuracy"] - row["change"]


def select_controls(table: pd.DataFrame, core: pd.Series) -> pd.DataFrame:
    """Select the random controls of the core: sets with as many heads of the same layers, ablated in the same kind.

    For a core of a single head, the controls are all other heads of its layer, ablated alone.

    Args:
        table: Table "ablations".
        core: Any row of the core's ablation.
    """
    roles = ["control", "non-core"] if core["size"] == 1 else ["control"]
    same = (table["layers"] == core["layers"]) & (table["kind"] == core["kind"]) & (table["size"] == core["size"])
    return table[table["role"].isin(roles) & same]


def limit_cost(group: str) -> dict[str, float]:
    """Return the smallest and the largest cost that an ablation can have on a group, points, as options of `Estimate`.

    They do not depend on the full model's accuracy, which is an estimate itself.
    """
    largest = 100.0 - MIN_VALUES.get(group, 0.0)
    return {"minimum": -largest, "maximum": largest}
