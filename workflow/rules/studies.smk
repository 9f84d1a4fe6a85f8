# Several studies in one run: this workflow once for each, its rules' names with the study's in front; and, where the file
# asks for a sweep, one figure of what changes from study to study.
import json
import os

from snakemake.exceptions import WorkflowError

from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.heuristic_core.config.studies import parse_studies, sweep_of
from heuristic_core.figures.targets import outputs

try:
    STUDIES = parse_studies(config, workflow.configfiles[-1])
    SWEEP = sweep_of(config, STUDIES, workflow.configfiles[-1])
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

if SWEEP:
    COMPUTES = SWEEP.arithmetic

    include: "jobs.smk"

    rule:
        name:
            SWEEP.target
        input:
            tables=[f"{root}/tables/ablations.parquet" for root in ROOTS],
        output:
            files=outputs(SWEEP.root, SWEEP.target),
        log:
            f"{SWEEP.root}/logs/{SWEEP.target}.log",
        params:
            **job(
                "sweep",
                f"{workflow.basedir}/src/heuristic_core/experiments/heuristic_core/figures/figure_sweep.py",
                sweep=json.dumps(SWEEP.told),
                folder=SWEEP.root,
            ),
        shell:
            FORK

    RESULTS.append(outputs(SWEEP.root, SWEEP.target))


rule export:
    input:
        [getattr(rules, f"{prefix}export").output for prefix in STUDIES],
    localrule: True


rule fetch:
    input:
        [getattr(rules, f"{prefix}fetch").output for prefix in STUDIES],
    localrule: True
