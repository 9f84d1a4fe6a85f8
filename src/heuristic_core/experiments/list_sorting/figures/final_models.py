"""Every model at the end of training: its measures, its mode and its condition."""

import pandas as pd

from heuristic_core.experiments.list_sorting.modes import classify_mode, select_last_step
from heuristic_core.figures.drawing import Tables


def select_final_models(tables: Tables) -> pd.DataFrame:
    """Return one row per model: columns of "sorting_models" and "sorting_conditions", and `mode`.

    The step is the model's last kept step.

    Args:
        tables: Tables "sorting_models" and "sorting_conditions".
    """
    models = select_last_step(tables["sorting_models"])
    modes = [classify_mode(*values) for values in zip(models["splitting"], models["suppression"], strict=True)]
    conditions = tables["sorting_conditions"].drop(columns="study")
    return models.assign(mode=modes).merge(conditions, on="condition", validate="many_to_one")
