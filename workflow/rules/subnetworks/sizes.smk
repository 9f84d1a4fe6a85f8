# Effective size and the spread over seeds. Published results lack runs and components.
rule effective_size:
    input:
        accuracy=LAYOUT.table("accuracy"),
        runs=LAYOUT.table("runs") if "runs" in TABLES else [],
        groups=LAYOUT.table("group_accuracy") if "runs" in TABLES else [],
    output:
        table=LAYOUT.table("effective_size"),
    log:
        LAYOUT.log("tables/effective_size"),
    group:
        "tables"
    params:
        **job(
            "effective_size",
            analysis=format_block(
                STUDY.analysis, {"margin", "margins", "recovery", "agreement", "kl", "effective_size", "subsets"}
            ),
            context=select_context("curve_seeds", "curve_repeat", "checkpoints"),
        ),
    shell:
        RUN_FORKED


rule spread:
    input:
        accuracy=LAYOUT.table("accuracy"),
        group_accuracy=LAYOUT.table("group_accuracy"),
        components=LAYOUT.table("components") if "components" in TABLES else [],
        runs=LAYOUT.table("runs") if "runs" in TABLES else [],
    output:
        summary=LAYOUT.table("summary"),
        variance=LAYOUT.table("variance"),
    log:
        LAYOUT.log("tables/spread"),
    group:
        "tables"
    params:
        **job("spread", context=select_context("repeats")),
    shell:
        RUN_FORKED
