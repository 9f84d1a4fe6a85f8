# Paths of the study's results, and what its rules share.
import re

from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.layout import Layout
from heuristic_core.experiments.list_sorting.results import MEASURED, PRUNED, tables, unmet_targets

GPUS = 0  # CPU cores are enough for models of 50,000 parameters

FOLDER, PREFIX = "list_sorting", "sorting"

L = Layout.of(STUDY)
UNMET = unmet_targets(STUDY)
CONDITIONS = list(STUDY.conditions)
KEPT = {name: STUDY.of(name).training.kept for name in CONDITIONS}
SAMPLED = [(name, step) for name in CONDITIONS for step in STUDY.sampled(name)]
ABSENT = {
    "fetch": (L.log("fetch"), 0, "This study takes nothing from elsewhere: there is nothing to fetch."),
    "publish": (
        L.log("publish"),
        1,
        "Models of this experiment have no architecture of Hugging Face: nothing to publish.",
    ),
}
# Settings of `prune` that change subsets.
SUBSET_SETTINGS = {"checkpoints", "seeds", "sparsity", "gates", "lists", "training_lists"}


wildcard_constraints:
    condition="|".join(map(re.escape, CONDITIONS)),
    step=r"\d+",


def condition_params(script, **settings):
    """Return the params of a job of one condition, which do not depend on other conditions."""
    names = {"study": STUDY.study, "condition": lambda w: w.condition}
    return job(script, sorting=lambda w: block(STUDY.of(w.condition)), **names, **settings)


def checkpoints(w):
    """Return the weights of a condition at every kept step."""
    return [L.checkpoint.format(condition=w.condition, step=step) for step in KEPT[w.condition]]
