# Several studies in one run: this workflow once for each, its rules' names with the study's in front; and, where the file
# asks for a sweep, one figure of what changes from study to study.
from snakemake.exceptions import WorkflowError

from heuristic_core.config.reading import ConfigError, read_layers
from heuristic_core.experiments.registry import folder_of
from heuristic_core.experiments.studies import parse_studies, sweep_of

try:
    read_layers(workflow.configfiles)
    STUDIES = parse_studies(config, workflow.configfiles[-1])
    SWEEP = sweep_of(config, STUDIES, workflow.configfiles[-1])
except ConfigError as error:
    raise WorkflowError(str(error)) from None

for prefix, one in STUDIES.items():

    module:
        name: prefix
        snakefile:
            workflow.main_snakefile
        config:
            one.settings

    use rule * from prefix as prefix*


RESULTS = [getattr(rules, f"{prefix}all_figures").input for prefix in STUDIES]
TOLD = [(one.experiment, one.study.root) for one in STUDIES.values()]
STARTING = []  # of single studies: modules keep theirs to themselves

if SWEEP:
    FOLDER = folder_of(next(iter(STUDIES.values())).settings)

    include: f"{FOLDER}/sweep.smk"


rule export:
    input:
        [getattr(rules, f"{prefix}export").output for prefix in STUDIES],
    localrule: True


rule report:
    input:
        [getattr(rules, f"{prefix}report").output for prefix in STUDIES],
    localrule: True


rule provenance:
    input:
        [getattr(rules, f"{prefix}provenance").output for prefix in STUDIES],
    localrule: True


rule fetch:
    input:
        [getattr(rules, f"{prefix}fetch").output for prefix in STUDIES],
    localrule: True
