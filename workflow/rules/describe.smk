# The study's checked settings.
rule describe:
    output:
        description=LAYOUT.description,
    log:
        LAYOUT.log("tables/describe"),
    group:
        "tables"
    params:
        **job("describe", settings=format_block(STUDY), **EXPERIMENT.report_settings(STUDY)),
    shell:
        RUN_FORKED
