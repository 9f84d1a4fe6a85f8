"""What table "ablations" says of the whole core ablated together, on a group of subsets."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some

# Roles of the set that holds the whole core, by its size: three heads are all among the strongest three. The strongest
# of a larger core are chosen by what they cost, so that comparing them with random sets would favour them.
WHOLE_CORE = ("core-all", "strongest", "pair", "core")


def joint_ablation(evidence: Evidence) -> pd.DataFrame:
    """The rows of the whole core, of the first kind of ablation. Raises CannotSay where there is no core."""
    return next(iter(joint_ablations(evidence).values()))


def joint_ablations(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """The same of every kind, by kind, in the order of the table."""
    evidence.sound("mid", "high")
    table = evidence.table("ablations")
    for role in WHOLE_CORE:
        rows = table[table["role"] == role]
        if len(rows):
            rows = rows[rows["ablation"] == rows["ablation"].iloc[0]]
            return {kind: rows[rows["kind"] == kind] for kind in rows["kind"].unique()}
    raise CannotSay("no core head was ablated")


def on_group(rows: pd.DataFrame, group: str) -> pd.Series:
    """The row of one ablation on a group. Raises CannotSay where its change is not known."""
    here = rows[rows["subset"].isna() & (rows["group"] == group)].dropna(subset="change")
    return some(here, f"{group} accuracy of ablation {rows['ablation'].iloc[0]}").iloc[0]


def matched(table: pd.DataFrame, core: pd.Series) -> pd.DataFrame:
    """The rows of table "ablations" of random sets like `core`: as many heads of the same layers, of the same kind.

    core: any row of the core's ablation. A core of one head has all other heads of its layer, which are ablated alone.
    """
    roles = ["control", "non-core"] if core["size"] == 1 else ["control"]
    same = (table["layers"] == core["layers"]) & (table["kind"] == core["kind"]) & (table["size"] == core["size"])
    return table[table["role"].isin(roles) & same]
