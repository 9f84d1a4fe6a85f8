# The experiment "extractive-structures".
include: "extractive_structures/common.smk"
include: "state.smk"
include: "extractive_structures/models.smk"
include: "extractive_structures/tables.smk"
include: "figures.smk"
include: "report.smk"
include: "export.smk"
include: "absent.smk"
