# Tables of the study.
PARTS = {f"sorting_{name}": expand(L.part(name), condition=CONDITIONS) for name in ("conditions", "trace", *MEASURED)}
PARTS["sorting_llc"] = [f"{L.root}/{name}/llc-step{step}.parquet" for name, step in SAMPLED]
PARTS |= {f"sorting_{name}": expand(L.part(name), condition=STUDY.pruned) for name in PRUNED}


rule concatenate:
    input:
        parts=lambda w: PARTS[w.table],
    output:
        table=f"{L.root}/tables/{{table}}.parquet",
    log:
        L.log("tables/{table}"),
    wildcard_constraints:
        table="|".join(PARTS),
    params:
        **job("sorting_concatenate", name=lambda w: w.table),
    shell:
        FORK


rule stages:
    input:
        models=L.table("sorting_models"),
        llc=L.table("sorting_llc") if SAMPLED else [],
    output:
        table=L.table("sorting_stages"),
        seed_stages=L.table("sorting_seed_stages"),
        changes=L.table("sorting_changes"),
        movements=L.table("sorting_movements"),
    log:
        L.log("tables/stages"),
    params:
        **job("sorting_stages", stages=block(STUDY.stages)),
    shell:
        FORK


TABLES = tables(STUDY)
RESULTS = [L.table(name) for name in TABLES]
TOLD = [(EXPERIMENT, L.root)]
