# Layout, settings and resources of the study.
from heuristic_core.models.folder import find_problem

GPUS = 1 if STUDY.device == "cuda" else 0


include: "../cluster.smk"


WHOLE_CORPUS = {"seed": "{seed}", "corpus": "whole"}
# Inputs of jobs besides the weights: a pretrained model brings its own tokenizer, one file for all seeds.
TOKENIZER = {"tokenizer": LAYOUT.tokenizer} if STUDY.pretrained else {}
MODEL_SETTINGS = {"device": STUDY.device, "precision": STUDY.precision} if STUDY.pretrained or GPUS else {}
# Scores are differences of nearly equal outputs, which bfloat16 would round away.
FLOAT32_SETTINGS = MODEL_SETTINGS and MODEL_SETTINGS | {"precision": "float32"}
# Once the model was copied into the results, its own folder is no longer needed.
if workflow.is_main_process and STUDY.pretrained and not os.path.exists(LAYOUT.pretrained):
    if problem := find_problem(STUDY.pretrained, causal=True):
        raise WorkflowError(f"{ORIGIN}: study {STUDY.study} cannot be run:\n  {problem}")
CHECKPOINT = LAYOUT.pretrained if STUDY.pretrained else LAYOUT.model
HOPS = {hop: LAYOUT.hop_weights(hop) for hop in ("first", "second")}
WHOLE_CORPUS_HOPS = {hop: path.format(**WHOLE_CORPUS) for hop, path in HOPS.items()}
NEEDS_DOWNLOAD = bool(STUDY.pretrained and STUDY.pretrained.hub)
UNAVAILABLE_RULES |= {
    "publish": (
        LAYOUT.log("publish"),
        1,
        "Models of this experiment have no Hugging Face architecture and cannot be published.",
    ),
}
if not NEEDS_DOWNLOAD:
    UNAVAILABLE_RULES["fetch"] = (
        LAYOUT.log("fetch"),
        0,
        "This study needs no downloads: nothing to fetch.",
    )
PRETRAINING_KEYS = set(type(STUDY.pretraining).model_fields) - {"corpora"}  # what pre-training depends on


wildcard_constraints:
    seed=r"\d+",
    corpus="|".join(STUDY.corpora),


def seed_params(script, **settings):
    """Return the params of a job of one seed. They leave out the other seeds, so that adding a seed reruns none."""
    identity = {"study": STUDY.study, "seed": lambda w: w.seed}
    return job(script, data=format_block(STUDY.data), **identity, **settings)
