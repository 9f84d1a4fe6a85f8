# Where results of the study are.
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.experiments.extractive_structures.layout import Layout
from heuristic_core.experiments.extractive_structures.needs import needs
from heuristic_core.experiments.extractive_structures.results import (
    ORDERED,
    PRUNED,
    SCORED,
    SHARED,
    of_corpus,
    tables_of,
)
from heuristic_core.models.folder import fault

GPUS = 1 if STUDY.device == "cuda" else 0

FOLDER, PREFIX = "extractive_structures", "extractive"
UNMET = {}  # every study can have every figure

L = Layout.of(STUDY)
WHOLE = {"seed": "{seed}", "corpus": "whole"}
# What jobs of a model need besides its weights; a model of others has its own tokenizer, and one file for all seeds.
TOKENIZER = {"tokenizer": L.tokenizer} if STUDY.pretrained else {}
RUNS = {"device": STUDY.device, "precision": STUDY.precision} if STUDY.pretrained or GPUS else {}
# Scores are differences of nearly equal outputs, which bfloat16 would round away.
EXACTLY = RUNS and RUNS | {"precision": "float32"}
# A model that was taken over already is no longer needed in its folder.
if workflow.is_main_process and STUDY.pretrained and not os.path.exists(L.pretrained):
    if told := fault(STUDY.pretrained, causal=True):
        raise WorkflowError(f"{ORIGIN}: study {STUDY.study} cannot be run:\n  {told}")
CHECKPOINT = L.pretrained if STUDY.pretrained else L.model
NEEDS = needs(STUDY)
HOPS = {hop: L.taught(hop) for hop in ("first", "second")}
OF_WHOLE = {hop: path.format(**WHOLE) for hop, path in HOPS.items()}
TO_FETCH = bool(STUDY.pretrained and STUDY.pretrained.hub)
ABSENT = {
    "publish": (
        L.log("publish"),
        1,
        "Models of this experiment have no architecture of Hugging Face: nothing to publish.",
    ),
}
if not TO_FETCH:
    ABSENT["fetch"] = L.log("fetch"), 0, "This study takes nothing from elsewhere: there is nothing to fetch."
TABLES = tables_of(STUDY)  # that claims, figures and the report read
LEARNING = set(type(STUDY.pretraining).model_fields) - {"corpora"}  # what a pre-trained model depends on


wildcard_constraints:
    seed=r"\d+",
    corpus="|".join(STUDY.corpora),


def of_seed(script, **settings):
    """Params of a job about one seed. Other seeds are no part of it: adding one reruns none."""
    named = {"study": STUDY.study, "seed": lambda w: w.seed}
    return job(script, data=block(STUDY.data), **named, **settings)


def asks(rule):
    """The memory and time that a job of `rule` asks of a cluster, twice as much when it is tried a second time, and a
    GPU where the study wants one."""
    need = NEEDS[rule]
    return {
        "mem_mb": lambda w, attempt: attempt * need.mem_mb,
        "runtime": lambda w, attempt: attempt * need.runtime,
        "gpu": GPUS,
    }
