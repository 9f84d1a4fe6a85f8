"""What ablating a head changes, model by model, at the end of training."""

import pandas as pd

from heuristic_core.experiments.list_sorting.modes import MODEL, last, roles

WHOLE = "none"  # the kind of rows of the model without ablation
ALL = "all"  # the role of all heads together
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
    names, measures = [*MODEL, "kind", "ablated"], list(MEASURES)
    whole = rows[rows["kind"] == WHOLE].set_index(MODEL)[measures]
    rows = rows.loc[rows["kind"] != WHOLE, [*names, *measures]].set_index(names)
    changes = (rows - whole.reindex(rows.index.droplevel(["kind", "ablated"])).set_axis(rows.index)).reset_index()
    heads = roles(last(tables["sorting_heads"]))
    heads = heads.assign(ablated=heads["head"].astype(str))[[*MODEL, "ablated", "role", "copying", "suppression"]]
    found = changes.merge(heads, on=[*MODEL, "ablated"], how="left", validate="many_to_one")
    return found.assign(role=found["role"].fillna(ALL))
