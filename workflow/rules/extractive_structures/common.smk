# Paths, settings and resources of the study.
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
WHOLE_CORPUS = {"seed": "{seed}", "corpus": "whole"}
# A model that was pre-trained elsewhere has its own tokenizer, and one file of weights for all seeds.
TOKENIZER = {"tokenizer": L.tokenizer} if STUDY.pretrained else {}
DEVICE_SETTINGS = {"device": STUDY.device, "precision": STUDY.precision} if STUDY.pretrained or GPUS else {}
# Scores are differences of nearly equal outputs, which bfloat16 would round away.
FLOAT32_SETTINGS = DEVICE_SETTINGS and DEVICE_SETTINGS | {"precision": "float32"}
# Once its weights are converted, the model is no longer needed in its folder.
if workflow.is_main_process and STUDY.pretrained and not os.path.exists(L.pretrained):
    if problem := fault(STUDY.pretrained, causal=True):
        raise WorkflowError(f"{ORIGIN}: study {STUDY.study} cannot be run:\n  {problem}")
CHECKPOINT = L.pretrained if STUDY.pretrained else L.model
NEEDS = needs(STUDY)
HOP_WEIGHTS = {hop: L.taught(hop) for hop in ("first", "second")}
WHOLE_HOP_WEIGHTS = {hop: path.format(**WHOLE_CORPUS) for hop, path in HOP_WEIGHTS.items()}
NEEDS_FETCH = bool(STUDY.pretrained and STUDY.pretrained.hub)
ABSENT = {
    "publish": (
        L.log("publish"),
        1,
        "Models of this experiment have no architecture of Hugging Face: nothing to publish.",
    ),
}
if not NEEDS_FETCH:
    ABSENT["fetch"] = L.log("fetch"), 0, "This study takes nothing from elsewhere: there is nothing to fetch."
TABLES = tables_of(STUDY)  # read by claims, figures and the report
PRETRAINING_FIELDS = set(type(STUDY.pretraining).model_fields) - {"corpora"}  # that a pre-trained model depends on


wildcard_constraints:
    seed=r"\d+",
    corpus="|".join(STUDY.corpora),


def seed_params(script, **settings):
    """Return the params of a job about one seed. They omit other seeds, so that adding a seed reruns no job."""
    labels = {"study": STUDY.study, "seed": lambda w: w.seed}
    return job(script, data=block(STUDY.data), **labels, **settings)


def cluster_resources(rule):
    """Return the memory, time and GPUs that a job of `rule` requests; memory and time grow with each attempt."""
    need = NEEDS[rule]
    return {
        "mem_mb": lambda w, attempt: attempt * need.mem_mb,
        "runtime": lambda w, attempt: attempt * need.runtime,
        "gpu": GPUS,
    }
