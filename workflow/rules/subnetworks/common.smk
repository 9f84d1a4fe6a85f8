# Layout, settings and resources of the study, and functions that rules share.
import base64
import glob
import os
from pathlib import Path
from typing import NamedTuple

from snakemake.exceptions import WorkflowError

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.config.analysis import COUNTERFACTUAL
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.config.cells import (
    list_cells,
    closed_blocks,
    early_cells,
    repeated_cells,
    seed_blocks,
    spread_cells,
    curve_cells,
)
from heuristic_core.experiments.subnetworks.config.paths import Layout
from heuristic_core.experiments.subnetworks.figures.targets import (
    drawing_module,
    shows_subnetworks,
    missing_requirement,
)
from heuristic_core.figures.targets import target_files, is_report_file
from heuristic_core.models.folder import local_files
from heuristic_core.experiments.subnetworks.plan.sources import check_sources
from heuristic_core.experiments.subnetworks.archive.reading import open_crate
from heuristic_core.provenance.record import record_path
from heuristic_core.experiments.subnetworks.published.study import load_paper_results, read_studies
from heuristic_core.data.download import list_downloads
from heuristic_core.data.hub import list_sources
from heuristic_core.data.rows import find_local_paths

CELLS = list_cells(STUDY)
REPEATS = repeated_cells(STUDY)
CONTEXT = Context.from_study(STUDY)
# Blocks (`model`, `task`) that name something to download.
DOWNLOAD_BLOCKS = {
    file.key.split(".")[0] for file in list_sources(STUDY.model, STUDY.task) + list_downloads(STUDY.task)
}
# GPUs of a job that runs models. `--resources gpu=N` sets how many there are, and so how many such jobs run at once.
GPUS = 1 if STUDY.device == "cuda" else 0


include: "../cluster.smk"


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
# A target without a caption of its own has the caption of the target with the same drawing module.
CAPTION_DIR = f"{workflow.basedir}/workflow/report/subnetworks"
CAPTIONS = {
    name: f"{CAPTION_DIR}/{name if os.path.exists(f'{CAPTION_DIR}/{name}.rst') else drawing_module(name)}.rst"
    for name in TARGETS
}


wildcard_constraints:
    ft_seed=r"\d+",
    lesion=r"overlap|random[1-9]\d*",
    step=r"\d+",
    sparsity=r"0\.\d+",
    seed=r"\d+",


def cell_dirs(runs, pattern=LAYOUT.cell, ft_seed="{ft_seed}"):
    """Return the folders of pruning runs, of fine-tuning run `ft_seed` or, by default, as patterns for any."""
    wildcards = [{k: f"{v:g}" if isinstance(v, float) else v for k, v in run._asdict().items()} for run in runs]
    return [pattern.format(ft_seed=ft_seed, **names) for names in wildcards]


def checkpoint_cell_dirs(w):
    """Return the folders of the subnetworks of one checkpoint, repeated runs last."""
    first, repeated = ([c for c in cells if c.step == int(w["step"])] for cells in (CELLS, REPEATS))
    return cell_dirs(first, LAYOUT.cell, w["ft_seed"]) + cell_dirs(repeated, LAYOUT.repeated_cell, w["ft_seed"])


def fetch_marker(block):
    """Return the marker of the download that `block` waits for. Its time is irrelevant: downloads are pinned."""
    return ancient(rules.fetch.output[0]) if block in DOWNLOAD_BLOCKS else []


def select_context(context, *names):
    """Return the fields of a context that most analyses and figures use, and `names`."""
    return format_block(context, {"mid", "high", "last", "seeds", *names})


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


class ReportedStudy(NamedTuple):
    """A study with figures and a report.

    Attributes:
        prefix: Prefix of its rules.
        targets: Figures and printed tables that it has.
        tables: Tables that it has.
    """

    prefix: str
    layout: Layout
    context: Context
    figures: object
    targets: list
    tables: list
    analysis: object = None


CURRENT_STUDY = ReportedStudy(
    prefix="",
    layout=LAYOUT,
    context=CONTEXT,
    figures=STUDY.figures,
    targets=[name for name in TARGETS if EXPERIMENT.find_missing(name, STUDY) is None],
    tables=TABLES,
    analysis=STUDY.analysis,
)
# Rules that this study lacks: name -> (log, exit status, message).
UNAVAILABLE_RULES = {}
