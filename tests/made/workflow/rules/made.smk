# The experiment "made".
GPUS = 0
UNAVAILABLE_RULES = {}
FOLDER, PREFIX = "made", "made"


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


RESULTS = [LAYOUT.table(name) for name in TABLES]
WARNING_SOURCES = [(EXPERIMENT, LAYOUT.root)]


include: "figures.smk"
include: "report.smk"
include: "export.smk"
include: "absent.smk"
