# Archive of the finished study (RO-Crate).
import json


rule export:
    input:
        MEMBERS,
        workflow=link_inputs(os.path.relpath(workflow.main_snakefile)),
        claims=link_inputs(os.path.relpath(EXPERIMENT.claims)),
        lock=link_inputs(os.path.relpath(LOCK)),
        citation=link_inputs(os.path.relpath(f"{workflow.basedir}/CITATION.cff")),
    output:
        archive=f"{LAYOUT.root}/{STUDY.study}.crate.zip",
    log:
        LAYOUT.log("export"),
    localrule: True
    params:
        **job(
            "export",
            has_record=False,
            root=lambda w, output: os.path.dirname(output.archive),
            settings=json.dumps(SETTINGS),
        ),
    shell:
        RUN_FRESH
