"""What ablating a head changes, model by model, at the end of training."""

import pandas as pd

from heuristic_core.experiments.list_sorting.modes import COPYING, MODEL, SUPPRESSION, last, roles

WHOLE = "none"  # the kind of rows of the model without ablation
ALL = "all"  # the role of all heads together
MODES = {COPYING: "all copying", SUPPRESSION: "all suppression"}  # roles of what all heads do to some numbers
MEASURES = {
    "loss": "loss (nats)",
    "entropy": "entropy (nats)",
    "calibration_error": "calibration error",
    "token_accuracy": "token accuracy",
}


def costs(tables) -> pd.DataFrame:
    """Condition, seed, kind, ablated, role, both scores of the head, and the change in every measure of `MEASURES`.

    tables: "sorting_ablations" and "sorting_heads". A change is the ablated model's value less the whole model's.
    role: of the head as :func:`heuristic_core.experiments.list_sorting.modes.roles` gives it, or "all".
    """
    rows = last(tables["sorting_ablations"])
    changes = _changes(rows[rows["kind"] != WHOLE], rows)
    heads = roles(last(tables["sorting_heads"]))
    heads = heads.assign(ablated=heads["head"].astype(str))[[*MODEL, "ablated", "role", "copying", "suppression"]]
    found = changes.merge(heads, on=[*MODEL, "ablated"], how="left", validate="many_to_one")
    return found.assign(role=found["role"].fillna(ALL))


def mode_costs(tables) -> pd.DataFrame:
    """Condition, seed, kind, role and changes as of :func:`costs`, of a mode of all heads together.

    tables: "sorting_ablations" and "sorting_mode_ablations". role: one of the values of `MODES`.
    """
    rows = last(tables["sorting_mode_ablations"])
    heads = rows["ablated"].str.count(r"\+")
    rows = rows[heads == heads.groupby(rows["condition"]).transform("max")]
    found = [
        _changes(rows[rows["mode"] == mode], last(tables["sorting_ablations"])).assign(role=role)
        for mode, role in MODES.items()
    ]
    return pd.concat(found, ignore_index=True)


def _changes(rows: pd.DataFrame, of: pd.DataFrame) -> pd.DataFrame:
    """rows: of ablated models. of: rows of table "sorting_ablations", those of whole models among them."""
    names, measures = [*MODEL, "kind", "ablated"], list(MEASURES)
    whole, rows = of[of["kind"] == WHOLE].set_index(MODEL)[measures], rows[[*names, *measures]].set_index(names)
    return (rows - whole.reindex(rows.index.droplevel(["kind", "ablated"])).set_axis(rows.index)).reset_index()
