# heuristic-core: subnetworks of fine-tuned language models. Targets stand here, rules under workflow/rules.
if not workflow.overwrite_configfiles:  # --configfile replaces the default study, it does not extend it

    configfile: "config.yaml"


if "studies" in config:

    include: "workflow/rules/studies.smk"

else:

    include: "workflow/rules/common.smk"
    include: "workflow/rules/state.smk"
    include: "workflow/rules/data.smk"
    include: "workflow/rules/finetune.smk"
    include: "workflow/rules/prune.smk"
    include: "workflow/rules/evaluate.smk"
    include: "workflow/rules/tables.smk"
    include: "workflow/rules/published.smk"
    include: "workflow/rules/redraw.smk"
    include: "workflow/rules/figures.smk"
    include: "workflow/rules/report.smk"
    include: "workflow/rules/audit.smk"
    include: "workflow/rules/compare.smk"
    include: "workflow/rules/export.smk"


rule all_figures:
    default_target: True
    input:
        RESULTS,
    localrule: True


rule all:
    input:
        rules.all_figures.input,
    localrule: True
