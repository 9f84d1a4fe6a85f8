# What results were made from, and whether they still are what was made.
for one in (OWN, *PUBLISHED_STUDIES):

    rule:
        name:
            f"{one.prefix}provenance"
        input:
            f"{one.layout.root}/report.html",
            [path for name in one.targets for path in outputs(one.layout.root, name)],
            [] if one.prefix else [path for path in MEMBERS if path != L.table("provenance")],
        output:
            table=one.layout.table("provenance"),
        log:
            one.layout.log("tables/provenance"),
        group:
            "tables"
        params:
            **job("provenance", recorded=False, root=lambda w, input: os.path.dirname(input[0])),
        shell:
            FORK
