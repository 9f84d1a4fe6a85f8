"""Read curves over training from the experiment's tables."""

import numpy as np
import pandas as pd


def build_curves(models: pd.DataFrame, llc: pd.DataFrame | None) -> tuple[list[int], dict[str, np.ndarray]]:
    """Return the measured steps and the curves of one condition.

    Args:
        models: Rows of table "sorting_models" of the condition.
        llc: Rows of table "sorting_llc" of the condition, if any.

    Returns:
        The measured steps from 1 on, and the curves by name, [seeds, steps], NaN where unknown: loss, overlap, and the
        LLC of each estimator.
    """
    models = models[models["step"] > 0]
    steps, seeds = sorted(models["step"].unique()), sorted(models["seed"].unique())

    def pivot(rows: pd.DataFrame, value: str) -> np.ndarray:
        grid = rows.pivot(index="seed", columns="step", values=value).reindex(index=seeds, columns=steps)
        return grid.to_numpy(dtype=float, na_value=np.nan)

    curves = {"loss": pivot(models, "loss"), "overlap": pivot(models, "soft_overlap")}
    if llc is not None:
        curves |= {f"llc {name}": pivot(rows, "value") for name, rows in llc.groupby("estimator", sort=False)}
    return [int(step) for step in steps], curves
