# The authors' published results of one task, through the analyses and figures of the workflow's own studies.
import json


include: "state.smk"
include: "subnetworks/context.smk"


rule import_results:
    input:
        files=link_inputs(*map(str, STUDY.source.files.paths)),
    output:
        **{table: LAYOUT.table(table) for table in STUDY.imported},
        study=LAYOUT.description,
    log:
        LAYOUT.log("import"),
    group:
        "tables"
    params:
        **job(
            "published",
            f"{FILES}/published/paper.yaml",
            folder=lambda w, input: os.path.dirname(input.files[0]),
            task=STUDY.source.task,
            groups=json.dumps(SETTINGS["groups"], sort_keys=True),
        ),
    shell:
        RUN_FORKED


rule group_accuracy:
    input:
        accuracy=LAYOUT.table("accuracy"),
    output:
        table=LAYOUT.table("group_accuracy"),
        family_scores=LAYOUT.table("family_scores"),
    log:
        LAYOUT.log("tables/group_accuracy"),
    group:
        "tables"
    params:
        **job("group_accuracy", analysis=format_block(STUDY.analysis, {"subsets"})),
    shell:
        RUN_FORKED


include: "subnetworks/sizes.smk"
include: "figures.smk"
include: "report.smk"
include: "provenance.smk"
include: "unavailable.smk"
