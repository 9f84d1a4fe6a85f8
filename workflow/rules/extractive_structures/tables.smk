# Tables of the study.
PARTS = {
    f"extractive_{name}": expand(LAYOUT.corpus_table(name), seed=STUDY.seeds, corpus=STUDY.corpora)
    for name in list_corpus_tables(STUDY)
}
PARTS |= {
    f"extractive_{name}": expand(LAYOUT.seed_table(name), seed=STUDY.seeds)
    for name in ("freezing", *ORDER_TABLES, *SCORE_TABLES, *PRUNE_TABLES)
}
if STUDY.sweep:
    PARTS |= {
        f"extractive_{name}": expand(LAYOUT.seed_table(name), seed=STUDY.seeds) for name in ("sweep", "made_up_sweep")
    }


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
        **job("extractive_concatenate", name=lambda w: w.table),
    shell:
        RUN_FORKED


rule core:
    input:
        subnetworks=LAYOUT.table("extractive_subnetworks"),
        components=LAYOUT.table("extractive_components"),
    output:
        **{name: LAYOUT.table(f"extractive_{name}") for name in SHARING_TABLES},
    log:
        LAYOUT.log("tables/core"),
    params:
        **job("extractive_core", permutations=STUDY.pruning.permutations),
    shell:
        RUN_FORKED


RESULTS = [LAYOUT.table(name) for name in TABLES]
WARNING_SOURCES = [(EXPERIMENT, LAYOUT.root)]
