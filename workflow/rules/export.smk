# One archive of the finished study, an RO-Crate, from which `redraw` draws everything.
rule export:
    input:
        study=[f"{L.root}/{path}" for path in members(STUDY)],
        workflow=os.path.relpath(workflow.main_snakefile),
        claims=os.path.relpath(f"{workflow.basedir}/claims.yaml"),
        lock=os.path.relpath(LOCK),
        citation=os.path.relpath(f"{workflow.basedir}/CITATION.cff"),
    output:
        f"{L.root}/{STUDY.study}.crate.zip",
    log:
        L.log("export"),
    localrule: True
    conda:
        "../../envs/environment.yaml"
    params:
        code=code_of("export"),
        root=lambda w, output: os.path.dirname(output[0]),
        settings=json.dumps(settings),
    shell:
        "step export --settings {params.settings:q} --root {params.root} --workflow {input.workflow:q} --claims {input.claims:q}"
        " --lock {input.lock:q} --citation {input.citation:q} --archive {output} --log {log}"
