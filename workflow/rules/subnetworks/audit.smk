# Inputs, settings and code of every result, and whether its bytes are unchanged.
for study in (CURRENT_STUDY, *PUBLISHED_STUDIES):

    rule:
        name:
            f"{study.prefix}provenance"
        input:
            f"{study.layout.root}/report.html",
            [path for name in study.targets for path in target_files(study.layout.root, name)],
            [] if study.prefix else [path for path in MEMBERS if path != LAYOUT.table("provenance")],
        output:
            table=study.layout.table("provenance"),
        log:
            study.layout.log("tables/provenance"),
        group:
            "tables"
        params:
            **job("provenance", has_record=False, root=lambda w, input: os.path.dirname(input[0])),
        shell:
            RUN_FORKED
