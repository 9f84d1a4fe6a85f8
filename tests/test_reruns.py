"""What runs again when a setting of the reduced study changes, and what does not: dry runs."""

import pytest
from reduced import OWN, REDUCED, STUDY, planned

from heuristic_core.config.grid import cells
from heuristic_core.figures.targets import TARGETS

pytestmark = pytest.mark.workflow


def test_an_unchanged_study_plans_no_job(finished):
    assert planned(finished, REDUCED) == {}


ANALYSED = {"concatenate", "effective_size", "head_frequency", "spread", "describe", "claims", "report", *TARGETS}
CONTROLS = {"controls_predictions", "controls"}
CORE = {"core", "ablate", "ablations"}


def test_a_new_sparsity_runs_its_jobs_and_what_is_drawn_from_them(finished, changed):
    jobs = planned(finished, changed(grid__sparsities=[0.2, 0.4, 0.6]))
    assert jobs["prune"] == jobs["evaluate"] == 2 * 2 * 2  # fine-tuning seeds x checkpoints x curve seeds
    assert jobs["gather"] == 2 * 2
    assert set(jobs) <= {"prune", "evaluate", "gather", "controls"} | ANALYSED


def test_a_new_pruning_seed_runs_its_jobs_and_what_is_drawn_from_them(finished, changed):
    jobs = planned(finished, changed(grid__seeds=[42, 43, 44, 45]))
    assert jobs["prune"] == jobs["evaluate"] == 2 * 2  # fine-tuning seeds x mid and high
    assert jobs["gather"] == 2  # the last checkpoint of each
    assert jobs["core"] == jobs["ablate"] == 2
    assert set(jobs) <= {"prune", "evaluate", "gather"} | CONTROLS | CORE | ANALYSED


def test_a_new_fine_tuning_seed_leaves_the_others_alone(finished, changed):
    jobs = planned(finished, changed(finetune__seeds=[1, 2, 3]))
    assert jobs["finetune"] == jobs["attention"] == jobs["core"] == jobs["ablate"] == 1
    assert jobs["prune"] == jobs["evaluate"] == len(cells(STUDY))
    assert "sentences" not in jobs
    assert "encode" not in jobs


@pytest.mark.parametrize("name", ["figure06", "figure03", "table3"])
def test_a_figures_settings_redraw_that_figure_alone(finished, changed, name):
    jobs = planned(finished, changed(**{f"figures__{name}__width": 5.0}))
    assert jobs == {name: 1, "report": 1, "describe": 1}


def test_a_fine_tuning_setting_invalidates_what_descends_from_it(finished, changed):
    jobs = planned(finished, changed(finetune__learning_rate=1e-3))
    assert jobs["finetune"] == 2
    assert jobs["full_model"] == 4
    assert jobs["prune"] == jobs["evaluate"] == 2 * len(cells(STUDY))
    assert set(OWN) <= set(jobs)
    assert "encode" not in jobs


def test_a_pruning_setting_leaves_the_full_model_alone(finished, changed):
    jobs = planned(finished, changed(prune__learning_rate=0.3))
    assert jobs["prune"] == 2 * len(cells(STUDY))
    assert not {"finetune", "full_model", "attention", "figure10"} & set(jobs)


def test_an_analysis_setting_computes_no_model(finished, changed):
    jobs = planned(finished, changed(analysis__margin=2.0))
    assert {"effective_size", "figure06"} <= set(jobs)
    assert set(jobs) <= {"effective_size", "describe", "claims", "report", "figure06", "table_effective_size"}


def test_the_class_rule_scores_anew_what_was_predicted(finished, changed):
    jobs = planned(finished, changed(analysis__class_rule="merge-first"))
    assert {"gather", "finetune_accuracy", "ablations", "controls"} <= set(jobs)
    assert not {"finetune", "full_model", "prune", "evaluate", "ablate", "controls_predictions", "attention"} & set(
        jobs
    )


def test_a_repeated_seed_runs_by_itself(finished, changed):
    jobs = planned(finished, changed(grid__repeats=[42, 43]))
    assert jobs["prune_again"] == jobs["evaluate_again"] == 2 * 2  # fine-tuning seeds x mid and high
    assert jobs["gather"] == 2
    assert not {"prune", "evaluate", "core", "ablate"} & set(jobs)
