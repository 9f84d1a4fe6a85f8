"""What runs again when something changes, and what does not: dry runs of the finished reduced study. The table in
docs/reruns.md says the same; test_own_task.py has tests of studies on files."""

import os
import shutil
import subprocess

import pytest
from conftest import CLAIMS, ROOT
from reduced import CODE, OWN, REDUCED, RUNS, STUDY, clone, planned, snakemake

from heuristic_core.experiments.subnetworks.config.cells import list_cells
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS


@pytest.mark.slow
def test_an_unchanged_study_plans_no_job(finished):
    assert planned(finished, REDUCED) == {}


# ---- settings


ANALYSED = {"concatenate", "effective_size", "circuit_performance", "head_frequency", "spread", "describe", "claims"}
ANALYSED |= {"report", *TARGETS}
CONTROLS = {"evaluate_controls", "controls"}
CORE = {"core", "ablate", "ablations"} | {"mediation", "paths"}


@pytest.mark.slow
def test_a_new_sparsity_runs_its_jobs_and_what_is_drawn_from_them(finished, changed):
    jobs = planned(finished, changed(grid__sparsities=[0.2, 0.4, 0.6]))
    assert jobs["prune"] == jobs["evaluate"] == 2 * 2 * 2  # fine-tuning seeds x checkpoints x curve seeds
    assert jobs["gather"] == 2 * 2
    assert set(jobs) <= {"prune", "evaluate", "gather", "controls"} | ANALYSED


@pytest.mark.slow
def test_a_new_pruning_seed_runs_its_jobs_and_what_is_drawn_from_them(finished, changed):
    jobs = planned(finished, changed(grid__seeds=[42, 43, 44, 45]))
    assert "figure10" not in jobs and "figure04" in jobs  # the full model, and its subnetworks
    assert jobs["prune"] == jobs["evaluate"] == 2 * 2  # fine-tuning seeds x mid and high
    assert jobs["gather"] == 2  # the last checkpoint of each
    assert jobs["core"] == jobs["ablate"] == 2
    assert set(jobs) <= {"prune", "evaluate", "gather"} | CONTROLS | CORE | ANALYSED


@pytest.mark.slow
def test_a_new_fine_tuning_seed_leaves_the_others_alone(finished, changed):
    jobs = planned(finished, changed(finetune__seeds=[1, 2, 3]))
    assert jobs["finetune"] == jobs["attention"] == jobs["core"] == jobs["ablate"] == 1
    assert jobs["prune"] == jobs["evaluate"] == len(list_cells(STUDY))
    assert "sentences" not in jobs
    assert "encode" not in jobs


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure06", "figure03", "table3"])
def test_a_figures_settings_redraw_that_figure_alone(finished, changed, name):
    jobs = planned(finished, changed(**{f"figures__{name}__width": 5.0}))
    assert jobs == {name: 1, "report": 1, "describe": 1}


@pytest.mark.slow
def test_a_fine_tuning_setting_invalidates_what_descends_from_it(finished, changed):
    jobs = planned(finished, changed(finetune__learning_rate=1e-3))
    assert jobs["finetune"] == 2
    assert jobs["full_model"] == 4
    assert jobs["prune"] == jobs["evaluate"] == 2 * len(list_cells(STUDY))
    assert set(OWN) <= set(jobs)
    assert "encode" not in jobs


@pytest.mark.slow
def test_another_arithmetic_runs_everything(finished, changed, tmp_path):
    assert planned(finished, changed(arithmetic="native")) == planned(tmp_path / "empty")


def test_a_pruning_setting_leaves_the_full_model_alone(finished, changed):
    jobs = planned(finished, changed(prune__learning_rate=0.3))
    assert jobs["prune"] == 2 * len(list_cells(STUDY))
    assert not {"finetune", "full_model", "attention", "figure10"} & set(jobs)


@pytest.mark.slow
def test_settings_that_must_not_exceed_the_pairs_make_no_pairs_again(finished, changed):
    """The job that makes the pairs checks them, but nothing that it makes depends on them."""
    fewer = changed(prune__mean_examples=STUDY.prune.mean_examples - 1)
    assert not {"sentences", "encode", "finetune"} & set(planned(finished, fewer))
    chosen = changed(analysis__subsets=["in_domain", "ln_so_swap", "cn_if"])
    assert not {"sentences", "encode", "finetune"} & set(planned(finished, chosen))


@pytest.mark.slow
def test_an_analysis_setting_computes_no_model(finished, changed):
    jobs = planned(finished, changed(analysis__margin=2.0))
    assert {"effective_size", "circuit_performance", "figure06"} <= set(jobs)
    drawn = {"figure06", "figure_cpr", "table_effective_size", "table_cpr"}
    assert set(jobs) <= {"effective_size", "circuit_performance", "describe", "claims", "report", *drawn}


def test_another_order_of_effective_size_draws_and_judges_alone(finished, changed):
    jobs = planned(finished, changed(analysis__size_order="mean-first", analysis__mixed="subsets"))
    assert set(jobs) == {"describe", "claims", "report", "figure06", "table_effective_size"}


def test_the_class_rule_scores_again_what_was_predicted(finished, changed):
    jobs = planned(finished, changed(analysis__class_rule="merge-first"))
    assert {"gather", "finetune_accuracy", "ablations", "controls"} <= set(jobs)
    assert not {"finetune", "full_model", "prune", "evaluate", "ablate", "evaluate_controls", "attention"} & set(jobs)


def test_a_repeated_seed_runs_by_itself(finished, changed):
    jobs = planned(finished, changed(grid__repeats=[42, 43]))
    assert jobs["prune_again"] == jobs["evaluate_again"] == 2 * 2  # fine-tuning seeds x mid and high
    assert jobs["gather"] == 2
    assert not {"prune", "evaluate", "core", "ablate"} & set(jobs)


@pytest.mark.slow
def test_other_subsets_score_and_choose_again_what_to_ablate(finished, changed):
    jobs = planned(finished, changed(analysis__subsets=["in_domain", "ln_so_swap", "cn_if"]))
    assert {"gather", "finetune_accuracy", "ablate", "controls", "effective_size", "figure02"} <= set(jobs)
    assert not {"finetune", "full_model", "prune", "evaluate", "evaluate_controls", "attention", "core"} & set(jobs)


@pytest.mark.slow
def test_one_more_random_lesion_is_fine_tuned_by_itself(finished, changed):
    jobs = planned(finished, changed(lesion__control_draws=2))
    assert jobs["lesion"] == jobs["lesion_accuracy"] == 2
    assert set(jobs) == {"lesion", "lesion_accuracy", "concatenate", "figure_lesion", "claims", "report", "describe"}


@pytest.mark.slow
def test_another_bound_of_overlap_heads_fine_tunes_without_others(finished, changed):
    jobs = planned(finished, changed(analysis__overlap_times_uniform=1.7))
    assert jobs["initial_attention"] == 2
    assert jobs["lesion"] == 2 * 2  # fine-tuning seeds x overlap and random1
    assert not {"sentences", "finetune", "full_model", "prune", "core", "attention"} & set(jobs)


@pytest.mark.slow
def test_a_model_that_has_learned_is_not_judged_again_before_it_is_pruned(finished, changed, tmp_path):
    """What waits for the judgement reads nothing of it, and is not made again where it is newer."""
    assert planned(finished, changed(analysis__despite_chance=True)) == {"describe": 1, "report": 1}
    folder = shutil.copytree(finished, tmp_path / "copy", symlinks=True)
    before = planned(folder)
    for seed in (1, 2):
        os.utime(folder / RUNS / f"ft{seed}/.learned")
    assert planned(folder) == before and "prune" not in before


@pytest.mark.slow
def test_a_result_that_is_missing_is_made_again(finished, tmp_path):
    """Also where all that was made from it is there, so that Snakemake by itself would make nothing."""
    folder = shutil.copytree(finished, tmp_path / "copy", symlinks=True)
    tables = ("head_frequency", "summary", "claims", "splits", "core")
    for path in [
        folder / "results/reduced/study.json",
        *(folder / f"results/reduced/tables/{name}.parquet" for name in tables),
    ]:
        path.unlink()
    assert planned(folder).keys() >= {"head_frequency", "spread", "claims", "encode", "concatenate", "describe"}


# ---- code: in a copy of the checkout, with the results of the study


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def append(path, text):
    path.write_text(path.read_text() + text)


@pytest.mark.slow
def test_a_moved_checkout_runs_nothing(checkout):
    assert planned(checkout, checkout=checkout) == {}


@pytest.mark.slow
def test_new_timestamps_of_the_code_run_nothing(checkout):
    for name in CODE:
        for path in (checkout / name, *(checkout / name).rglob("*")):
            os.utime(path)
    assert planned(checkout, checkout=checkout) == {}


@pytest.mark.slow
def test_a_fresh_clone_over_the_same_results_runs_nothing(checkout, tmp_path):
    fresh = clone(tmp_path / "fresh", copy=shutil.copyfile)
    for name in ("results", ".snakemake"):
        (checkout / name).rename(fresh / name)
    assert planned(fresh, checkout=fresh) == {}


@pytest.mark.slow
def test_a_copy_without_timestamps_is_set_right_by_touching_it(settled, tmp_path):
    copied = tmp_path / "copied"
    subprocess.run(["cp", "-r", settled, copied], check=True)
    snakemake(copied, "--touch", checkout=copied)
    assert planned(copied, checkout=copied) == {}


@pytest.mark.slow
def test_results_apart_from_the_checkout_judge_and_report_again_when_it_moves(settled, checkout):
    assert planned(settled, checkout=checkout) == {"claims": 1, "report": 1}


@pytest.mark.slow
def test_a_script_runs_its_steps_and_what_follows(checkout):
    append(checkout / "workflow/scripts/evaluate.py", "\nADDED = 1\n")
    jobs = planned(checkout, checkout=checkout)
    assert jobs["evaluate"] == 2 * len(list_cells(STUDY))
    assert {"gather", "figure02", "report"} <= set(jobs)
    assert not {"finetune", "full_model", "prune", "core", "ablate", "attention", "describe"} & set(jobs)


@pytest.mark.slow
def test_a_library_module_runs_the_steps_that_import_it(checkout):
    append(checkout / "src/heuristic_core/pruning/discretise.py", "\nADDED = 1\n")
    jobs = planned(checkout, checkout=checkout)
    assert jobs["prune"] == 2 * len(list_cells(STUDY))
    assert jobs["evaluate_controls"] == 2
    assert not {"sentences", "finetune", "full_model", "attention", "figure10", "describe"} & set(jobs)


@pytest.mark.slow
def test_a_figures_module_redraws_that_figure(checkout):
    append(
        checkout / "src/heuristic_core/experiments/subnetworks/figures/figure06.py",
        "\nADDED = 1\n",
    )
    assert planned(checkout, checkout=checkout) == {"figure06": 1, "report": 1}


@pytest.mark.slow
def test_comments_and_docstrings_run_nothing(checkout):
    append(checkout / "src/heuristic_core/common/atomic.py", "# files are small tools\n")
    edit(checkout / "src/heuristic_core/pruning/prune.py", '"""', '"""In other words: ')
    edit(checkout / "workflow/scripts/finetune.py", '"""', '"""In other words: ')
    assert planned(checkout, checkout=checkout) == {}


def pinned(checkout, package, version="0.0.1"):
    """Pin another version of a package in the lock."""
    lock = checkout / "envs/requirements.txt"
    lines = lock.read_text().splitlines()
    assert any(line.startswith(f"{package}==") for line in lines)
    lock.write_text("\n".join(f"{package}=={version}" if line.startswith(f"{package}==") else line for line in lines))


@pytest.mark.slow
def test_a_package_that_computes_runs_everything(checkout, tmp_path):
    pinned(checkout, "numpy")
    assert planned(checkout, checkout=checkout) == planned(tmp_path / "empty", checkout=checkout)


@pytest.mark.slow
def test_a_package_that_draws_redraws(checkout):
    pinned(checkout, "matplotlib")
    assert set(planned(checkout, checkout=checkout)) == {*OWN, "report"}


@pytest.mark.slow
def test_the_package_that_writes_pictures_of_the_report_runs_the_report(checkout):
    pinned(checkout, "pillow")
    assert planned(checkout, checkout=checkout) == {"report": 1}


@pytest.mark.slow
def test_tools_run_nothing(checkout):
    for tool in ("snakemake", "ruff", "pytest", "filelock"):
        pinned(checkout, tool)
    append(checkout / "envs/requirements.txt", "\nsnakemake-executor-plugin-cluster==1.0\n")
    assert planned(checkout, checkout=checkout) == {}


@pytest.mark.slow
def test_claims_are_judged_again(checkout):
    append(checkout / CLAIMS.relative_to(ROOT), "\n# another word\n")
    assert planned(checkout, checkout=checkout) == {"claims": 1, "report": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", ["workflow/report/subnetworks/figure06.rst", "src/heuristic_core/report/templates/*.css"]
)
def test_captions_and_style_make_the_report_again(checkout, file):
    (path,) = checkout.glob(file)
    append(path, "\n")
    assert planned(checkout, checkout=checkout) == {"report": 1}
