"""Texts of the page about the settings: see :mod:`heuristic_core.config.reference`."""

from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.list_sorting.study import SortingStudy

HEAD = """# Settings of list sorting

This page is written by `make docs` from the pydantic models of the experiment and of the library. Do not edit it.
What a file of a study is, what *none* and `required` mean and how files override each other is in the
[configuration reference](configuration.md).
[List sorting](list-sorting.md) has the measures that the settings are of.
"""
UNITS = {
    "numbers": "numbers length",
    "lists": "train_lists held_out_lists batch_size lists mean_lists folded_lists training_lists gradient_examples",
    "steps": "Training.checkpoints burn_in draws",
    "steps per decade": "per_decade",
    "checkpoints": "matrices LlcRuns.checkpoints PruneRuns.checkpoints",
    "heads": "heads",
    "chains": "chains half_step_chains",
    "nats": "largest_rise kl",
    "points": "margin",
    "share": "sparsity flat resolution largest_drift largest_step_effect largest_slide",
    "change points": "knots",
    "resamples": "bootstrap",
    "inches": "SortingFigures.width",
    "": "mean_gap Model.width head_width final_learning_rate n_beta step_size localisation scale_floor "
    "largest_distance largest_displacement largest_r_hat least evidence",
}
MEANINGS = {
    "experiment": "chooses this experiment",
    "heads": "attention heads of the layer",
    "weight_decay": "strength of the decay; 0 with `adam`",
    "adam_betas": "Adam's decay rates of both moments",
    "adam_epsilon": "Adam's term against division by zero",
    "HalfGates.weight_decay": "AdamW's on log_alpha",
    "LlcRuns.conditions": "conditions whose coefficient is sampled",
    "PruneRuns.conditions": "conditions whose halves of heads are pruned",
    "SortingFigures.width": "width of the picture",
    "Training.batch_size": "lists of a step",
    "train_lists": "training lists; one can come twice",
}
REFERENCE = ReferencePage("configuration-list-sorting.md", HEAD, SortingStudy, UNITS, MEANINGS)
