# The experiment "list-sorting".
include: "list_sorting/common.smk"
include: "state.smk"
include: "list_sorting/models.smk"
include: "list_sorting/prune.smk"
include: "list_sorting/tables.smk"
include: "list_sorting/figures.smk"
include: "list_sorting/report.smk"
include: "absent.smk"
