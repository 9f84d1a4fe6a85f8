"""The effect of ablating heads on each model at the end of training."""

import pandas as pd

from heuristic_core.experiments.list_sorting.modes import (
    COPYING,
    MODEL_KEYS,
    SUPPRESSION,
    assign_roles,
    select_last_step,
)
from heuristic_core.figures.drawing import Tables

NO_ABLATION = "none"  # kind of the rows without ablation
ALL_HEADS = "all"  # role of all heads together
MODE_ROLES = {COPYING: "all copying", SUPPRESSION: "all suppression"}  # role of a mode of all heads
MEASURES = {
    "loss": "loss (nats)",
    "entropy": "entropy (nats)",
    "calibration_error": "calibration error",
    "token_accuracy": "token accuracy",
}


def ablation_costs(tables: Tables) -> pd.DataFrame:
    """Return condition, seed, kind, ablated, role of the head, and changes in `MEASURES`.

    A change is the ablated model's value minus the whole model's. role: role of the head by
    :func:`heuristic_core.experiments.list_sorting.modes.assign_roles`, or "all".

    Args:
        tables: Tables "sorting_ablations" and "sorting_heads".
    """
    rows = select_last_step(tables["sorting_ablations"])
    changes = _changes(rows[rows["kind"] != NO_ABLATION], rows)
    heads = assign_roles(select_last_step(tables["sorting_heads"]))
    heads = heads.assign(ablated=heads["head"].astype(str))[[*MODEL_KEYS, "ablated", "role"]]
    merged = changes.merge(heads, on=[*MODEL_KEYS, "ablated"], how="left", validate="many_to_one")
    return merged.assign(role=merged["role"].fillna(ALL_HEADS))


def mode_ablation_costs(tables: Tables) -> pd.DataFrame:
    """Return condition, seed, kind, role and changes as :func:`ablation_costs`, for a mode of all heads together.

    role is one of the values of `MODE_ROLES`.

    Args:
        tables: Tables "sorting_ablations" and "sorting_mode_ablations".
    """
    rows = select_last_step(tables["sorting_mode_ablations"])
    heads = rows["ablated"].str.count(r"\+")
    rows = rows[heads == heads.groupby(rows["condition"]).transform("max")]
    mode_changes = [
        _changes(rows[rows["mode"] == mode], select_last_step(tables["sorting_ablations"])).assign(role=role)
        for mode, role in MODE_ROLES.items()
    ]
    return pd.concat(mode_changes, ignore_index=True)


def _changes(rows: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """Subtract the whole model's measures from those of ablated models.

    Args:
        rows: Rows of ablated models.
        baselines: Rows of table "sorting_ablations", including those of whole models.
    """
    names, measures = [*MODEL_KEYS, "kind", "ablated"], list(MEASURES)
    whole, rows = (
        baselines[baselines["kind"] == NO_ABLATION].set_index(MODEL_KEYS)[measures],
        rows[[*names, *measures]].set_index(names),
    )
    return (rows - whole.reindex(rows.index.droplevel(["kind", "ablated"])).set_axis(rows.index)).reset_index()
