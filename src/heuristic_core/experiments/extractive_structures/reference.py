"""Texts of the settings page that the settings lack, see :mod:`heuristic_core.config.reference`."""

from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.extractive_structures.config import ExtractiveStudy

HEAD = """# Settings of extractive structures

This page is written by `make docs` from the pydantic models of the experiment and of the library. Do not edit it.
What a file of a study is, what *none* and `required` mean and how files override each other is in the
[configuration reference](configuration.md).
[Extractive structures](extractive-structures.md) has the measures that the settings are of.
"""
UNITS = {
    "cities": "cities",
    "names": "names people",
    "layers": "layers early",
    "heads": "heads",
    "tokens": "positions",
    "sentences": "batch_size",
    "questions": "ComponentGates.batch_size",
    "epochs": "epochs Finetuning.save_every",
    "rank": "known_rank",
    "prompts": "counterfactuals",
    "points": "path_steps",
    "share": "sparsity",
    "draws": "permutations",
    "inches": "ExtractiveFigures.width",
    "": "Model.width learning_rates",
}
MEANINGS = {
    "experiment": "chooses this experiment",
    "layers": "number of layers",
    "learning_rate": "Adam's, constant",
    "batch_size": "sentences of a step",
    "epochs": "passes over the facts",
    "Sweep.epochs": "epochs after which ranks are measured",
    "learning_rates": "Adam's, constant",
    "name": "name of the model",
    "width": "width of the picture",
    "adam_betas": "Adam's decay rates of both moments",
    "adam_epsilon": "Adam's term against division by zero",
}
REFERENCE = ReferencePage("configuration-extractive-structures.md", HEAD, ExtractiveStudy, UNITS, MEANINGS)
