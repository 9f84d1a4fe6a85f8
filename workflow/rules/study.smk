# The checked study of this configuration, and its experiment.
import glob
import os

from snakemake.exceptions import WorkflowError

from heuristic_core.config.reading import ConfigError, read_layers
from heuristic_core.experiments.registry import experiment_of, folder_of

ORIGIN = os.path.relpath(workflow.configfiles[-1])
try:
    read_layers(workflow.configfiles)  # Snakemake reads them, too, and says nothing of repeated keys
    FOLDER, EXPERIMENT = folder_of(config, ORIGIN), experiment_of(config, ORIGIN)
    SETTINGS = {key: value for key, value in config.items() if key not in EXPERIMENT.COMMANDS}
    STUDY = EXPERIMENT.parse(SETTINGS, ORIGIN)
except ConfigError as error:
    raise WorkflowError(str(error)) from None

COMPUTES = STUDY.arithmetic
# What belongs to the finished study, and into its archive: a run makes all of it, so that `export` adds nothing to it.
MEMBERS = [f"{STUDY.root}/{path}" for path in EXPERIMENT.members(STUDY)]
FILES = f"{workflow.basedir}/src/heuristic_core/experiments/{FOLDER}"  # of the experiment, as jobs read them
# What pages look like: the templates, style and script that scripts do not import.
LIBRARY = f"{workflow.basedir}/src/heuristic_core"
PAGE = sorted(path for of in (f"{LIBRARY}/report", FILES) for path in glob.glob(f"{of}/templates/*"))


include: "jobs.smk"
