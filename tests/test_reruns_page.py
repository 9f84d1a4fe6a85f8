"""Every row of the tables in docs/reruns.md has a test, and every test of reruns has a row there."""

import ast
import re

from conftest import ROOT

RERUNS, OWN_TASK, PRETRAIN = "test_reruns.py", "test_own_task.py", "test_pretrain.py"
# First cell of a row -> its tests: (file, name).
TESTS = {
    "`grid.sparsities`: one more": [(RERUNS, "test_a_new_sparsity_runs_its_jobs_and_what_is_drawn_from_them")],
    "`grid.seeds`: one more": [(RERUNS, "test_a_new_pruning_seed_runs_its_jobs_and_what_is_drawn_from_them")],
    "`grid.repeats`: one more": [(RERUNS, "test_a_repeated_seed_runs_by_itself")],
    "`finetune.seeds`: one more": [(RERUNS, "test_a_new_fine_tuning_seed_leaves_the_others_alone")],
    "`finetune.learning_rate`": [(RERUNS, "test_a_fine_tuning_setting_invalidates_what_descends_from_it")],
    "`prune.learning_rate`": [(RERUNS, "test_a_pruning_setting_leaves_the_full_model_alone")],
    "`prune.mean_examples`": [(RERUNS, "test_settings_that_must_not_exceed_the_pairs_make_no_pairs_again")],
    "`analysis.margin`": [(RERUNS, "test_an_analysis_setting_computes_no_model")],
    "`analysis.size_order`, `analysis.mixed`": [
        (RERUNS, "test_another_order_of_effective_size_draws_and_judges_alone")
    ],
    "`analysis.class_rule`": [(RERUNS, "test_the_class_rule_scores_again_what_was_predicted")],
    "`analysis.subsets`": [(RERUNS, "test_other_subsets_score_and_choose_again_what_to_ablate")],
    "`analysis.despite_chance`": [(RERUNS, "test_a_model_that_has_learned_is_not_judged_again_before_it_is_pruned")],
    "`analysis.overlap_times_uniform`": [(RERUNS, "test_another_bound_of_overlap_heads_fine_tunes_without_others")],
    "`lesion.control_draws`: one more": [(RERUNS, "test_one_more_random_lesion_is_fine_tuned_by_itself")],
    "`analysis.attention_pairs`, `task.id_pairs`, `task.train_pairs`": [
        (PRETRAIN, "test_a_study_pre_trains_its_model_once_and_fine_tunes_from_it")
    ],
    "`task.evaluation`: one more test set": [(OWN_TASK, "test_another_test_set_runs_everything")],
    "`arithmetic`": [(RERUNS, "test_another_arithmetic_runs_everything")],
    "`figures.figure06.width`": [(RERUNS, "test_a_figures_settings_redraw_that_figure_alone")],
    "a script in `workflow/scripts`": [(RERUNS, "test_a_script_runs_its_steps_and_what_follows")],
    "a library module": [(RERUNS, "test_a_library_module_runs_the_steps_that_import_it")],
    "a figure's module": [(RERUNS, "test_a_figures_module_redraws_that_figure")],
    "numpy or another package that computes": [(RERUNS, "test_a_package_that_computes_runs_everything")],
    "matplotlib": [(RERUNS, "test_a_package_that_draws_redraws")],
    "Pillow": [(RERUNS, "test_the_package_that_writes_pictures_of_the_report_runs_the_report")],
    "`claims.yaml`": [(RERUNS, "test_claims_are_judged_again")],
    "a caption, the report's style": [(RERUNS, "test_captions_and_style_make_the_report_again")],
    "comments, docstrings, layout; Snakemake, its plugins, ruff, pytest, indirect dependencies": [
        (RERUNS, "test_comments_and_docstrings_run_nothing"),
        (RERUNS, "test_tools_run_nothing"),
    ],
    "a row of a data file": [(OWN_TASK, "test_another_row_makes_the_pairs_again")],
    "the files that a pattern (`tricky*.csv`) matches": [
        (OWN_TASK, "test_another_file_that_a_pattern_matches_makes_the_pairs_again")
    ],
    "a data file is missing": [(OWN_TASK, "test_a_file_that_is_gone_is_named_before_anything_made_from_it_is_removed")],
    "a result is missing, its record is not": [(RERUNS, "test_a_result_that_is_missing_is_made_again")],
    "nothing, or timestamps (`git pull`)": [
        (RERUNS, "test_an_unchanged_study_plans_no_job"),
        (RERUNS, "test_new_timestamps_of_the_code_run_nothing"),
        (OWN_TASK, "test_new_timestamps_of_files_of_pairs_run_nothing"),
    ],
    "the checkout's path, or a fresh clone, with `results` and `.snakemake` moved along": [
        (RERUNS, "test_a_moved_checkout_runs_nothing"),
        (RERUNS, "test_a_fresh_clone_over_the_same_results_runs_nothing"),
    ],
    "the checkout's path, with results elsewhere (`--directory`)": [
        (RERUNS, "test_results_apart_from_the_checkout_judge_and_report_again_when_it_moves")
    ],
    "a copy by `cp -r`": [(RERUNS, "test_a_copy_without_timestamps_is_set_right_by_touching_it")],
}
ROWS = re.findall(r"^\| (?!you change)(.+?) \|", (ROOT / "docs" / "reruns.md").read_text(), re.MULTILINE)


def defined_in(file):
    tree = ast.parse((ROOT / "tests" / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_rows_and_tests_correspond():
    assert sorted(ROWS) == sorted(TESTS)
    named = [test for tests in TESTS.values() for test in tests]
    assert len(set(named)) == len(named), "a test is behind one row"
    for file, name in named:
        assert name in defined_in(file), f"{file}::{name} does not exist"
    assert defined_in(RERUNS) == {name for file, name in named if file == RERUNS}
