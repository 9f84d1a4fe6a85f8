# The checked study of this configuration, and its experiment.
import glob
import os
import sys

from snakemake.exceptions import WorkflowError

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import read_merged_configs
from heuristic_core.experiments.registry import load_experiment, resolve_folder

ORIGIN = os.path.relpath(workflow.configfiles[-1])
try:
    read_merged_configs(workflow.configfiles)  # Snakemake reads them, too, but ignores repeated keys
    FOLDER, EXPERIMENT = resolve_folder(config, ORIGIN), load_experiment(config, ORIGIN)
    SETTINGS = {key: value for key, value in config.items() if key not in EXPERIMENT.commands}
    STUDY = EXPERIMENT.parse(SETTINGS, ORIGIN)
except InputError as error:
    print(error, file=sys.stderr)  # Snakemake would add its own lines around a WorkflowError
    sys.exit(1)

JOB_ARITHMETIC = STUDY.arithmetic
LAYOUT = EXPERIMENT.make_layout(STUDY)
TARGETS = EXPERIMENT.targets
TABLES = EXPERIMENT.list_tables(STUDY)  # read by figures, claims or the report
PARTS = EXPERIMENT.list_parts(STUDY)  # table -> the files that it is joined from
# Files of the finished study and of its archive. A run makes all of them, so `export` only packs.
MEMBERS = [f"{STUDY.root}/{path}" for path in EXPERIMENT.list_members(STUDY)]
RESULTS = list(MEMBERS)  # what a run makes
WARNING_SOURCES = [(EXPERIMENT, LAYOUT.root)]  # studies whose warnings are printed at the end
UNAVAILABLE_RULES = {}  # rules that this study lacks: name -> (log, exit status, message)
GPUS = 0  # GPUs of a job that runs models
FILES = f"{workflow.basedir}/src/heuristic_core/experiments/{EXPERIMENT.folder.name}"  # the experiment's code and data
# Templates, style, script and findings of HTML pages, which no import reveals.
LIBRARY = f"{workflow.basedir}/src/heuristic_core"
PAGE_FILES = sorted(path for root in (f"{LIBRARY}/report", FILES) for path in glob.glob(f"{root}/templates/*"))
PAGE_FILES += glob.glob(f"{FILES}/findings.yaml")


include: "jobs.smk"


CLAIMS = link_inputs(os.path.relpath(EXPERIMENT.claims))
