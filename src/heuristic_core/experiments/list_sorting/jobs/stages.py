"""Stages of training of all conditions."""

import numpy as np
import pandas as pd

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.list_sorting.config_llc import Stages
from heuristic_core.experiments.list_sorting.stage_tables import (
    change_rows,
    find_all_stages,
    fit_curves,
    movement_rows,
    seed_stage_rows,
    stage_rows,
)
from heuristic_core.tables.parquet import read_table, write_table


def find_stages(
    models: Input,
    stages: Stages,
    table: Output,
    seed_stages: Output,
    changes: Output,
    movements: Output,
    llc: Input | None = None,
) -> None:
    """Find stages of training by change points of loss, overlap and local learning coefficient, over seeds.

    Args:
        models: Table sorting_models.
        stages: Settings of the fits.
        table: Where to write stages over seeds, table sorting_stages.
        seed_stages: Where to write stages of every model, table sorting_seed_stages.
        changes: Where to write change points, table sorting_changes.
        movements: Where to write what curves do in every stage, table sorting_movements.
        llc: Table sorting_llc.
    """
    paths = {
        "sorting_stages": table,
        "sorting_seed_stages": seed_stages,
        "sorting_changes": changes,
        "sorting_movements": movements,
    }
    rows: dict[str, list[dict]] = {name: [] for name in paths}
    coefficients = read_table(llc) if llc else None
    for (study, condition), condition_models in read_table(models).groupby(["study", "condition"], sort=False):
        names = {"study": study, "condition": condition}
        sampled = None if coefficients is None else coefficients[coefficients["condition"] == condition]
        steps, curves = build_curves(condition_models, sampled)
        fits = fit_curves(steps, curves, stages)
        model_stages = find_all_stages(fits)
        condition_rows = {
            "sorting_stages": stage_rows(steps, model_stages, stages),
            "sorting_seed_stages": seed_stage_rows(sorted(condition_models["seed"].unique()), model_stages),
            "sorting_changes": change_rows(steps, fits, stages),
            "sorting_movements": movement_rows(steps, curves, model_stages, stages),
        }
        for name in paths:
            rows[name] += [names | row for row in condition_rows[name]]
    for name, path in paths.items():
        write_table(name, rows[name], path)


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

    curves = {"loss": pivot(models, "loss"), "overlap": pivot(models, "overlap")}
    if llc is not None:
        curves |= {f"llc {name}": pivot(rows, "value") for name, rows in llc.groupby("estimator", sort=False)}
    return [int(step) for step in steps], curves
