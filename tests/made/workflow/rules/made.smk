# The experiment "made".
include: "state.smk"


rule squares:
    output:
        table=LAYOUT.table("squares"),
    log:
        LAYOUT.log("squares"),
    params:
        **job("squares", largest=STUDY.largest),
    shell:
        RUN_FORKED


include: "describe.smk"
include: "figures.smk"
include: "report.smk"
include: "provenance.smk"
include: "export.smk"
include: "unavailable.smk"
