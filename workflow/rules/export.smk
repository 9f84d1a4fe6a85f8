# Archive of the finished study (RO-Crate).
import json


rule export:
    input:
        MEMBERS,
        workflow=plain(os.path.relpath(workflow.main_snakefile)),
        claims=plain(os.path.relpath(EXPERIMENT.CLAIMS)),
        lock=plain(os.path.relpath(LOCK)),
        citation=plain(os.path.relpath(f"{workflow.basedir}/CITATION.cff")),
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
