# Where results of the study are.
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.experiments.extractive_structures.layout import Layout
from heuristic_core.experiments.extractive_structures.results import OF_CORPUS, ORDERED, PRUNED, SCORED, SHARED
from heuristic_core.experiments.extractive_structures.tables import EXTRACTIVE as TABLES

GPUS = 0  # models of 900,000 parameters: a processor's cores are enough

FOLDER, PREFIX = "extractive_structures", "extractive"
UNMET = {}  # every study can have every figure

L = Layout.of(STUDY)
WHOLE = {"seed": "{seed}", "corpus": "whole"}
HOPS = {hop: L.taught(hop) for hop in ("first", "second")}
OF_WHOLE = {hop: path.format(**WHOLE) for hop, path in HOPS.items()}
ABSENT = {
    "fetch": (L.log("fetch"), 0, "This study takes nothing from elsewhere: there is nothing to fetch."),
    "publish": (
        L.log("publish"),
        1,
        "Models of this experiment have no architecture of Hugging Face: nothing to publish.",
    ),
}
LEARNING = set(type(STUDY.pretraining).model_fields) - {"corpora"}  # what a pre-trained model depends on


wildcard_constraints:
    seed=r"\d+",
    corpus="|".join(STUDY.pretraining.corpora),


def of_seed(script, **settings):
    """Params of a job about one seed. Other seeds are no part of it: adding one reruns none."""
    named = {"study": STUDY.study, "seed": lambda w: w.seed}
    return job(script, data=block(STUDY.data), **named, **settings)
