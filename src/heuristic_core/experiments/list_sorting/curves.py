"""Curves over training, from the experiment's tables."""

import numpy as np
import pandas as pd


def curves_of(models: pd.DataFrame, llc: pd.DataFrame | None) -> tuple[list[int], dict[str, np.ndarray]]:
    """The measured steps from 1 on, and by name the curves of one condition: [seeds, steps], NaN where unknown.

    models, llc: rows of tables "sorting_models" and "sorting_llc" of the condition. The curves are loss, overlap, and
    the LLC by each estimator.
    """
    models = models[models["step"] > 0]
    steps, seeds = sorted(models["step"].unique()), sorted(models["seed"].unique())

    def curve(rows: pd.DataFrame, value: str) -> np.ndarray:
        grid = rows.pivot(index="seed", columns="step", values=value).reindex(index=seeds, columns=steps)
        return grid.to_numpy(dtype=float, na_value=np.nan)

    found = {"loss": curve(models, "loss"), "overlap": curve(models, "soft_overlap")}
    if llc is not None:
        found |= {f"llc {name}": curve(rows, "value") for name, rows in llc.groupby("estimator", sort=False)}
    return [int(step) for step in steps], found
