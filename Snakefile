# heuristic-core: subnetworks of fine-tuned language models. Targets are here, rules under workflow/rules.
from heuristic_core.experiments.registry import IMPORT_KEYS

if not workflow.overwrite_configfiles:  # --configfile replaces the default study, it does not extend it

    configfile: "config.yaml"


if config.keys() & {"studies", *IMPORT_KEYS}:

    include: "workflow/rules/studies.smk"

else:

    include: "workflow/rules/study.smk"
    include: f"workflow/rules/{FOLDER}.smk"


rule all_figures:
    default_target: True
    input:
        RESULTS,
    localrule: True


rule all:
    input:
        rules.all_figures.input,
    localrule: True


include: "workflow/rules/run.smk"
