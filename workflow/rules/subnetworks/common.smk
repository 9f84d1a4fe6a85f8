# Layout, settings and resources of the study, and functions that rules share.
import glob
import os
from pathlib import Path

from snakemake.exceptions import WorkflowError

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.config.analysis import COUNTERFACTUAL
from heuristic_core.experiments.subnetworks.config.cells import (
    list_cells,
    closed_blocks,
    Run,
    early_cells,
    pruned_steps,
    repeated_cells,
    run_blocks,
    spread_cells,
    curve_cells,
)
from heuristic_core.models.folder import local_files
from heuristic_core.experiments.subnetworks.plan.sources import check_sources
from heuristic_core.provenance.record import record_path
from heuristic_core.data.download import list_downloads
from heuristic_core.data.hub import list_sources
from heuristic_core.data.split_files import find_local_paths

CELLS = list_cells(STUDY)
REPEATS = repeated_cells(STUDY)
# Blocks (`model`, `task`) that name something to download.
DOWNLOAD_BLOCKS = {
    file.key.split(".")[0] for file in list_sources(STUDY.model, STUDY.task) + list_downloads(STUDY.task)
}
# `--resources gpu=N` sets how many there are, and so how many such jobs run at once.
GPUS = 1 if STUDY.device == "cuda" else 0
if "published_groups" in config:
    raise WorkflowError("published_groups needs published=<folder of the authors' files>")
UNAVAILABLE_RULES |= {
    "published": (
        LAYOUT.log("published"),
        1,
        "snakemake --cores all published --config published=<folder of the authors' data/eval files>",
    ),
    "redraw": (
        LAYOUT.log("redraw"),
        1,
        "snakemake --cores all redraw --config crate=<archive that export wrote>",
    ),
}


include: "context.smk"
include: "../cluster.smk"


# What the first figures show: the last checkpoint's subnetworks and, for the core's null, the early ones.
FIRST_STEPS = {str(cell.step) for cell in (*spread_cells(STUDY), *early_cells(STUDY))}


def first_steps_first(wildcards):
    """Priority of a job on one checkpoint."""
    return 1 if wildcards.step in FIRST_STEPS else 0


# Jobs of a group are submitted to a cluster together; locally groups change nothing. Groups of small studies are
# bundled.
IS_SMALL = NEEDS and max(NEEDS["prune"].runtime, NEEDS["evaluate"].runtime) <= 10
GROUP_PREFIX = "small_" if IS_SMALL else ""
MODELS = f"{GROUP_PREFIX}models_ft{{ft_seed}}"
SUBNETWORKS = f"{GROUP_PREFIX}subnetworks_ft{{ft_seed}}_step{{step}}"
ABLATIONS = f"{GROUP_PREFIX}ablations_ft{{ft_seed}}"
# The task as jobs read it: only captions use the phrase `heuristic`.
TASK = STUDY.task.model_copy(update={"heuristic": None})
# How predictions are scored.
SCORING = format_block(STUDY.analysis, {"subsets", "class_rule", "bootstrap", "seed"})
# Settings of jobs: their fine-tuning run, and how they run a model.
RUN_SETTINGS = {
    "study": STUDY.study,
    "model_name": STUDY.model.name,
    "task_name": STUDY.task.name,
    "ft_seed": lambda w: w.ft_seed,
}
DEVICE_SETTINGS = {"device": STUDY.device, "precision": STUDY.precision}


wildcard_constraints:
    ft_seed=r"\d+",
    lesion=r"overlap|random[1-9]\d*",
    step=r"\d+",
    sparsity=r"0\.\d+",
    seed=r"\d+",


def cell_dirs(runs, pattern=LAYOUT.cell, ft_seed="{ft_seed}"):
    """Return the folders of pruning runs, as patterns where `ft_seed` or a run's step is not given."""
    wildcards = [{k: f"{v:g}" if isinstance(v, float) else v for k, v in run._asdict().items()} for run in runs]
    return [pattern.format(**({"ft_seed": ft_seed, "step": "{step}"} | names)) for names in wildcards]


def checkpoint_cell_dirs(w):
    """Return the folders of the subnetworks of one checkpoint, repeated runs last."""
    first, repeated = ([c for c in cells if c.step == int(w["step"])] for cells in (CELLS, REPEATS))
    return cell_dirs(first, LAYOUT.cell, w["ft_seed"]) + cell_dirs(repeated, LAYOUT.repeated_cell, w["ft_seed"])


def block_log(script, runs, repeat):
    """Return the log of jobs on one block of runs, named by the first and the last."""
    names = [f"s{run.sparsity}-seed{run.seed}" for run in dict.fromkeys([runs[0], runs[-1]])]
    return LAYOUT.log(f"{script}/ft{{ft_seed}}-step{{step}}-{'-to-'.join(names)}" + "-again" * repeat)


def fetch_marker(block):
    """Return the marker of the download that `block` waits for. Its time is irrelevant: downloads are pinned."""
    return ancient(rules.fetch.output[0]) if block in DOWNLOAD_BLOCKS else []


def finetune_block(w, **changes):
    """Return the settings of one fine-tuning run. They leave out the other seeds, so adding a seed reruns none."""
    return format_block(STUDY.finetune.model_copy(update={"seeds": [int(w.ft_seed)], **changes}))


def last_checkpoint_params(script, **settings):
    """Return the params of a job on the last checkpoint of one fine-tuning run."""
    return job(script, **(RUN_SETTINGS | {"step": STUDY.last_checkpoint} | settings))


def mechanism_params(name, analysis=SCORING, **settings):
    """Return the params of a job that runs the last checkpoint for one part of the block `mechanism`."""
    return last_checkpoint_params(
        name,
        **({"mechanism": format_block(STUDY.mechanism, {name}), "analysis": analysis} | DEVICE_SETTINGS | settings),
    )
