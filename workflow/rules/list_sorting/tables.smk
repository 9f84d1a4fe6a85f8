# Tables of the study.
rule concatenate:
    input:
        parts=lambda w: PARTS[w.table],
    output:
        table=f"{LAYOUT.root}/tables/{{table}}.parquet",
    log:
        LAYOUT.log("tables/{table}"),
    wildcard_constraints:
        table="|".join(PARTS),
    params:
        **job("sorting_concatenate", name=lambda w: w.table),
    shell:
        RUN_FORKED


rule stages:
    input:
        models=LAYOUT.table("sorting_models"),
        llc=LAYOUT.table("sorting_llc") if SAMPLED_CHECKPOINTS else [],
    output:
        table=LAYOUT.table("sorting_stages"),
        seed_stages=LAYOUT.table("sorting_seed_stages"),
        changes=LAYOUT.table("sorting_changes"),
        movements=LAYOUT.table("sorting_movements"),
    log:
        LAYOUT.log("tables/stages"),
    params:
        **job("sorting_stages", stages=format_block(STUDY.stages)),
    shell:
        RUN_FORKED
