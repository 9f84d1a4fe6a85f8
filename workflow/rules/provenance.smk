# Inputs, settings and code of every result, and whether its bytes are unchanged.
rule provenance:
    input:
        LAYOUT.report,
        [path for path in MEMBERS if path not in (LAYOUT.report, LAYOUT.table("provenance"))],
    output:
        table=LAYOUT.table("provenance"),
    log:
        LAYOUT.log("tables/provenance"),
    group:
        "tables"
    params:
        **job("provenance", has_record=False, root=lambda w, input: os.path.dirname(input[0])),
    shell:
        RUN_FORKED
