# heuristic-core: subnetworks of fine-tuned language models. Targets stand here, rules under workflow/rules.
if not workflow.overwrite_configfiles:  # --configfile replaces the default study, it does not extend it

    configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/finetune.smk"
include: "workflow/rules/prune.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/published.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/compare.smk"


localrules:
    all,
    all_figures,
    fetch,
    published,


rule all_figures:
    default_target: True
    input:
        [f for name in FEEDABLE for f in outputs(L.root, name)],
        f"{L.root}/report.html",
        [L.table(name) for name in ("prune_trace", "finetune_trace")],


rule all:
    input:
        rules.all_figures.input,
