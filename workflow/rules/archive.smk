# An archive of `export`, drawn again from its own tables, settings and claims.
CLAIMS = f"{LAYOUT.root}/claims.yaml"


include: "state.smk"


rule unpack:
    input:
        crate=link_inputs(str(STUDY.source.path)),
    output:
        tables=list(map(LAYOUT.table, TABLES)),
        study=LAYOUT.description,
        claims=CLAIMS,
    log:
        LAYOUT.log("unpack"),
    localrule: True
    params:
        **job("unpack", has_record=False, folder=lambda w, output: os.path.dirname(output.study)),
    shell:
        RUN_FRESH


include: "figures.smk"
include: "report.smk"
include: "unavailable.smk"


RESULTS = [path for path in MEMBERS if path != LAYOUT.table("provenance")]  # which an archive may lack
