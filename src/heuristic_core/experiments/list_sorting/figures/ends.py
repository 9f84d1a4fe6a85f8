"""What every model is at the end of training: its measures, its mode, and the condition that it was trained in."""

import pandas as pd

from heuristic_core.experiments.list_sorting.modes import last, mode_of, with_suppression


def at_end(tables) -> pd.DataFrame:
    """One row per model: columns of tables "sorting_models" and "sorting_conditions", `suppression` and `mode`.

    tables: these two and "sorting_heads". The step is the model's last kept step.
    """
    models = last(tables["sorting_models"])
    models = with_suppression(models, last(tables["sorting_heads"]))
    modes = [mode_of(*scores) for scores in zip(models["splitting"], models["suppression"], strict=True)]
    conditions = tables["sorting_conditions"].drop(columns="study")
    return models.assign(mode=modes).merge(conditions, on="condition", validate="many_to_one")
