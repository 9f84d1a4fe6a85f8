# Layout and settings of the study.
import re

CONDITIONS = list(STUDY.conditions)
KEPT_STEPS = {name: STUDY.condition_settings(name).training.kept for name in CONDITIONS}
SAMPLED_CHECKPOINTS = [(name, step) for name in CONDITIONS for step in STUDY.sampled_steps(name)]
UNAVAILABLE_RULES |= {
    "fetch": (LAYOUT.log("fetch"), 0, "This study needs no downloads: nothing to fetch."),
    "publish": (
        LAYOUT.log("publish"),
        1,
        "Models of this experiment have no Hugging Face architecture and cannot be published.",
    ),
}
PRUNING_KEYS = {"checkpoints", "seeds", "sparsity", "gates", "lists", "training_lists"}  # what subsets depend on


wildcard_constraints:
    condition="|".join(map(re.escape, CONDITIONS)),
    step=r"\d+",


def condition_params(script, **settings):
    """Return the params of a job of one condition. They leave out other conditions: adding a condition reruns none."""
    identity = {"study": STUDY.study, "condition": lambda w: w.condition}
    return job(script, sorting=lambda w: format_block(STUDY.condition_settings(w.condition)), **identity, **settings)


def list_checkpoints(w):
    """Return the paths of a condition's weights, one per kept step."""
    return [LAYOUT.checkpoint.format(condition=w.condition, step=step) for step in KEPT_STEPS[w.condition]]
