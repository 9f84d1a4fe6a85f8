"""The rules of further pruning runs, on the reduced study."""

import shutil

import pandas as pd
import pytest
from conftest import ROOT
from reduced import REDUCED, RUNS, planned, snakemake

from heuristic_core.config.reading import read_config
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.config.study import parse_study
from heuristic_core.experiments.subnetworks.plan.pairs import count_pairs
from heuristic_core.experiments.subnetworks.plan.work import estimate_work
from heuristic_core.plan.shapes import read_shape
from heuristic_core.pruning.subnetwork import FailedRun, load_run
from heuristic_core.tables.parquet import read_table

PARTS = ROOT / "tests" / "studies" / "further_runs.yaml"
BOTH = parse_study(read_config(REDUCED) | read_config(PARTS))


def test_the_plan_counts_further_runs():
    before, after = (
        {
            (part.rules[0], part.engine): part
            for part in estimate_work(study, read_shape(study.model), count_pairs(study))
        }
        for study in (load_study(REDUCED), BOTH)
    )
    assert not {"prune_closed", "packing", "transplant"} & {rule for rule, _ in before}
    tuned, steps = len(BOTH.finetune.seeds), BOTH.prune.total_steps(0.2)
    assert after["prune_closed", "prune"].repeats == tuned * 4 * steps
    assert after["prune", "prune"].repeats == before["prune", "prune"].repeats + tuned * 4 * steps  # entry's cells
    assert after["packing", "prune"].repeats == tuned * 2 * BOTH.prune.total_steps(0.4)
    assert after["core_free", "evaluate"].repeats == tuned * (1 + 4 + 3)
    assert after["transplant", "evaluate"].repeats == tuned * 2 * (2 * 2 + 1)


@pytest.mark.slow
@pytest.mark.workflow
def test_parts_are_further_jobs_alone(finished, tmp_path):
    """They run no job of the study again but gathering and what reads gathered tables."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    jobs = planned(tmp_path, [REDUCED, PARTS])
    assert (jobs["prune_closed"], jobs["core_free"], jobs["packing"], jobs["transplant"], jobs["entry"]) == (
        8,
        2,
        2,
        2,
        2,
    )
    assert jobs["prune"] == jobs["evaluate"] == 8 and not {"finetune", "core", "ablate", "full_model"} & jobs.keys()


@pytest.mark.slow
def test_the_parts_run_and_leave_the_rest_as_it_is(finished, tmp_path):
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    snakemake(tmp_path, config=[REDUCED, PARTS])
    root, tables = tmp_path / "results" / "reduced", tmp_path / "results" / "reduced" / "tables"
    result = {
        name: read_table(tables / f"{name}.parquet") for name in ("core_free_runs", "core_free", "packing", "entry")
    }
    assert all(set(table["ft_seed"]) == {1, 2} for table in result.values())
    assert (result["core_free_runs"].groupby("ft_seed").size() == 4).all()
    core = read_table(tables / "core.parquet")
    for ft_seed in (1, 2):
        heads = set(core.loc[core["in_core"] & (core["ft_seed"] == ft_seed), "component"])
        for run in result["core_free_runs"][result["core_free_runs"]["ft_seed"] == ft_seed].itertuples():
            path = tmp_path / RUNS / f"ft{ft_seed}/mechanism/closed/set{run.set}/seed{run.seed}/subnetwork.json"
            mask = load_run(path)
            if isinstance(mask, FailedRun):
                assert run.reason == mask.reason and not run.sound
                continue
            assert set(mask.closed) == (heads if run.set == 0 else set(run.closed))
            assert not set(mask.kept) & set(mask.closed)
            assert len(mask.kept) == 8
    transplanted, accuracy = read_table(tables / "transplant.parquet"), read_table(tables / "accuracy.parquet")
    keys = ["ft_seed", "step", "sparsity", "seed", "subset"]
    diagonal = transplanted[transplanted["subset"].notna() & (transplanted["mask_step"] == transplanted["step"])]
    both = diagonal.merge(accuracy[accuracy["repeat"] == 0], on=keys)
    assert len(both) == len(diagonal) > 0 and (both["accuracy_x"] - both["accuracy_y"]).abs().max() < 1e-9
    names = ("core", "core_null", "effective_size", "summary", "variance", "head_frequency", "ablations", "controls")
    for name in names:  # but for rounding: more models of a checkpoint are added up in another order
        before = read_table(finished / "results" / "reduced" / "tables" / f"{name}.parquet")
        pd.testing.assert_frame_equal(read_table(tables / f"{name}.parquet"), before, rtol=1e-9, atol=1e-9)
    for name in ("figure02", "figure04", "figure05", "figure06", "figure13"):
        drawn, before = (pd.read_csv(of / f"figures/{name}.csv") for of in (root, finished / "results" / "reduced"))
        pd.testing.assert_frame_equal(drawn, before, rtol=1e-9, atol=1e-9)
    assert (root / "figures/figure_transplant.png").exists() and (root / "figures/figure_entry.png").exists()
    rounds = result["packing"]
    assert (rounds[rounds["round"] == 1].groupby("ft_seed").size() == 1).all() and rounds["round"].max() >= 2
