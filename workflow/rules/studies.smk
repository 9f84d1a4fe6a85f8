# Several studies in one run: this workflow once for each, its rules' names with the study's in front.
import os

from snakemake.exceptions import WorkflowError

from heuristic_core.config import ConfigError
from heuristic_core.config.studies import parse_studies

try:
    STUDIES = parse_studies(config, workflow.configfiles[-1])
except ConfigError as error:
    raise WorkflowError(str(error)) from None

for prefix, settings in STUDIES.items():

    module:
        name: prefix
        snakefile:
            workflow.main_snakefile
        config:
            settings

    use rule * from prefix as prefix*


RESULTS = [getattr(rules, f"{prefix}all_figures").input for prefix in STUDIES]


ROOTS = [f"{settings.get('results', 'results')}/{settings['study']}" for settings in STUDIES.values()]
STARTING = []  # of single studies: modules keep theirs to themselves


rule export:
    input:
        [getattr(rules, f"{prefix}export").output for prefix in STUDIES],
    localrule: True


rule fetch:
    input:
        [getattr(rules, f"{prefix}fetch").output for prefix in STUDIES],
    localrule: True
