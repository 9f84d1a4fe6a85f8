# Several studies in one run, or imported ones: this workflow is included once per study, with a prefix of its rules.
# Optional: a figure across the studies (sweep), a table of the number of training seeds on which each claim holds
# (replicates), and one of the verdicts of all studies (verdicts).
import sys

from snakemake.exceptions import WorkflowError

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import read_merged_configs
from heuristic_core.experiments.registry import IMPORT_KEYS, resolve_folder
from heuristic_core.figures.targets import target_files
from heuristic_core.experiments.studies import parse_studies, parse_sweep, parse_tables

try:
    read_merged_configs(workflow.configfiles)
    STUDIES = parse_studies(config, workflow.configfiles[-1])
    SWEEP = parse_sweep(config, STUDIES, workflow.configfiles[-1])
    TABLES = parse_tables(config, STUDIES, workflow.configfiles[-1])
except InputError as error:
    print(error, file=sys.stderr)  # Snakemake would add its own lines around a WorkflowError
    sys.exit(1)

for prefix, entry in STUDIES.items():

    module:
        name: prefix
        snakefile:
            workflow.main_snakefile
        config:
            entry.settings

    use rule * from prefix as prefix*


RESULTS = [getattr(rules, f"{prefix}all_figures").input for prefix in STUDIES]
WARNING_SOURCES = [(entry.experiment, entry.study.root) for entry in STUDIES.values()]
ONSTART_CHECKS = []  # each study's module has its own

if SWEEP:
    FOLDER = resolve_folder(next(iter(STUDIES.values())).settings)

    include: f"{FOLDER}/sweep.smk"


if TABLES:
    JOB_ARITHMETIC = next(iter(STUDIES.values())).study.arithmetic

    include: "jobs.smk"


for kind, table in TABLES.items():

    rule:
        name:
            table.target
        input:
            claims=[f"{entry.study.root}/tables/claims.parquet" for entry in STUDIES.values()],
        output:
            files=target_files(table.root, table.target),
        log:
            f"{table.root}/logs/{table.target}.log",
        params:
            **job(kind, target=table.target, folder=table.root),
        shell:
            RUN_FORKED

    RESULTS.append(target_files(table.root, table.target))


for target in ("export", "report", "provenance", "fetch"):
    if all(workflow.is_rule(f"{prefix}{target}") for prefix in STUDIES):

        rule:
            name:
                target
            input:
                [getattr(rules, f"{prefix}{target}").output for prefix in STUDIES],
            localrule: True


for key, (_, target) in IMPORT_KEYS.items():
    if key in config:

        rule:
            name:
                target
            input:
                RESULTS,
            localrule: True
