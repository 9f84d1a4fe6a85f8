# Where results of the study are, and what each rule's results are made from.
import base64
import glob
import os
from pathlib import Path
from typing import NamedTuple

from snakemake.exceptions import WorkflowError

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.config.analysis import COUNTERFACTUAL
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.experiments.heuristic_core.config.cells import (
    cells,
    closed_blocks,
    early,
    repeats,
    seed_blocks,
    spread,
    surface,
)
from heuristic_core.experiments.heuristic_core.config.paths import Layout
from heuristic_core.experiments.heuristic_core.figures.targets import TARGETS, module, of_subnetworks, unmet
from heuristic_core.experiments.heuristic_core.figures.targets import lacking, unmet_in
from heuristic_core.figures.targets import outputs, shown
from heuristic_core.models.folder import local_files
from heuristic_core.experiments.heuristic_core.plan.needs import needs
from heuristic_core.experiments.heuristic_core.plan.sources import check_sources
from heuristic_core.experiments.heuristic_core.archive.members import MECHANISM, absent
from heuristic_core.experiments.heuristic_core.archive.reading import open_crate
from heuristic_core.provenance.record import record_of
from heuristic_core.experiments.heuristic_core.published.study import paper, studies
from heuristic_core.sources.download import downloads
from heuristic_core.sources.hub import sources
from heuristic_core.tasks.rows import local_paths

L = Layout.of(STUDY)
CELLS = cells(STUDY)
AGAIN = repeats(STUDY)
CONTEXT = Context.of(STUDY)
# Which blocks, `model` and `task`, name something that is downloaded.
TO_FETCH = {file.key.split(".")[0] for file in sources(STUDY.model, STUDY.task) + downloads(STUDY.task)}
# GPUs of a job that runs models. `--resources gpu=N` says how many there are, and so how many such jobs run at once.
GPUS = 1 if STUDY.device == "cuda" else 0
# On a cluster: what jobs ask for, and what the profile's default-resources say of jobs with a GPU alone.
NEEDS = needs(STUDY)
SITE = workflow.resource_settings.default_resources or {}
AT_GPU = {
    resource: SITE[name].raw
    for name, resource in {
        "gpu_partition": "slurm_partition",
        "gpu_constraint": "constraint",
        "gpu_type": "gpu_model",
        "gpu_gres": "gres",
    }.items()
    if GPUS and name in SITE
}
# Groups travel to a cluster together; on this machine they change nothing. Those of small studies are bundled besides.
SMALL = "small_" if max(NEEDS["prune"].runtime, NEEDS["evaluate"].runtime) <= 10 else ""
MODELS = f"{SMALL}models_ft{{ft_seed}}"
SUBNETWORKS = f"{SMALL}subnetworks_ft{{ft_seed}}_step{{step}}"
ABLATIONS = f"{SMALL}ablations_ft{{ft_seed}}"
# What jobs read of the task: the phrase is of captions alone.
TASK = STUDY.task.model_copy(update={"heuristic": None})
# How predictions are scored, everywhere.
SCORING = block(STUDY.analysis, {"subsets", "class_rule", "bootstrap", "seed"})
# Settings of jobs: which run they are about, and how they run a model.
RUN = {
    "study": STUDY.study,
    "model_name": STUDY.model.name,
    "task_name": STUDY.task.name,
    "ft_seed": lambda w: w.ft_seed,
}
DEVICE = {"device": STUDY.device, "precision": STUDY.precision}
# A target without its own caption has the caption of the target that draws the same.
WORDS = f"{workflow.basedir}/workflow/report/heuristic_core"
CAPTIONS = {name: f"{WORDS}/{name if os.path.exists(f'{WORDS}/{name}.rst') else module(name)}.rst" for name in TARGETS}


wildcard_constraints:
    ft_seed=r"\d+",
    lesion=r"overlap|random[1-9]\d*",
    step=r"\d+",
    sparsity=r"0\.\d+",
    seed=r"\d+",


def folders(runs, pattern=L.cell, ft_seed="{ft_seed}"):
    """Folders of pruning runs, of one fine-tuning run or of any."""
    named = [{k: f"{v:g}" if isinstance(v, float) else v for k, v in run._asdict().items()} for run in runs]
    return [pattern.format(ft_seed=ft_seed, **names) for names in named]


def folders_of(w):
    """Folders of the subnetworks of one checkpoint, second runs last."""
    first, again = ([c for c in cells if c.step == int(w["step"])] for cells in (CELLS, AGAIN))
    return folders(first, L.cell, w["ft_seed"]) + folders(again, L.again, w["ft_seed"])


def fetched(block):
    """What to wait for before what `block` names can be read. When it was downloaded says nothing: it is pinned."""
    return ancient(rules.fetch.output[0]) if block in TO_FETCH else []


def context_of(study, *names):
    """What analysis and figures know of a study: what most of them use, and `names`."""
    return block(study, {"mid", "high", "last", "seeds", *names})


def finetuning_of(w, **changes):
    """The settings of one fine-tuning run. The other seeds are no part of it: adding one reruns no other."""
    return block(STUDY.finetune.model_copy(update={"seeds": [int(w.ft_seed)], **changes}))


def at_last(script, **settings):
    """Params of a job on the last checkpoint of one fine-tuning run."""
    return job(script, **(RUN | {"step": STUDY.last_checkpoint} | settings))


def mechanism(name, analysis=SCORING, **settings):
    """Params of a job that runs the last checkpoint for one part of the block `mechanism`."""
    return at_last(name, **({"mechanism": block(STUDY.mechanism, {name}), "analysis": analysis} | DEVICE | settings))


def asks(rule):
    """The memory and time that a job of `rule` asks of a cluster; twice as much when it is tried a second time."""
    need = NEEDS[rule]
    return {
        "mem_mb": lambda w, attempt: attempt * need.mem_mb,
        "runtime": lambda w, attempt: attempt * need.runtime,
    }


def asks_model(rule):
    """The same of a job that runs a model: with a GPU where the study wants one, and in turn within a group."""
    return asks(rule) | {"gpu": 0 if "gres" in AT_GPU else GPUS, "turn": 1} | AT_GPU


class Shown(NamedTuple):
    """A study with figures and a report. prefix: of its rules. targets, tables: figures that it has, what claims read."""

    prefix: str
    layout: Layout
    context: Context
    figures: object
    targets: list
    tables: list
    analysis: object = None


# Every table that a claim may read; Snakemake makes those that no figure wanted. An archive may have more than this study.
CLAIM_TABLES = [
    "accuracy",
    "group_accuracy",
    "finetune_accuracy",
    "components",
    "core",
    "core_null",
    "stable_core",
    "frequency_agreement",
    "mask_clusters",
    "variance",
    "controls",
    "effective_size",
    "circuit_performance",
    "ablations",
    "triples",
    "attention",
    "overlap_heads",
    "lesions",
    "lesion_accuracy",
    "runs",
    "core_free",
    "core_free_runs",
    "packing",
    "entry",
    "mask_tests",
    "mediation",
    "paths",
]
OWN = Shown(
    prefix="",
    layout=L,
    context=CONTEXT,
    figures=STUDY.figures,
    targets=[name for name in TARGETS if unmet_in(name, STUDY) is None],
    tables=[name for name in CLAIM_TABLES if name not in absent(STUDY)],
    analysis=STUDY.analysis,
)
# Rules that this study does not have: name -> log, exit status, and what is said when they are asked for.
ABSENT = {}
