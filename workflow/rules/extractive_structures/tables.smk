# Tables of the whole study.
PARTS = {
    f"extractive_{name}": expand(L.of_corpus(name), seed=STUDY.seeds, corpus=STUDY.corpora) for name in of_corpus(STUDY)
}
PARTS |= {
    f"extractive_{name}": expand(L.of_seed(name), seed=STUDY.seeds) for name in ("freezing", *ORDERED, *SCORED, *PRUNED)
}
if STUDY.sweep:
    PARTS |= {f"extractive_{name}": expand(L.of_seed(name), seed=STUDY.seeds) for name in ("sweep", "made_up_sweep")}


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
        **job("extractive_concatenate", name=lambda w: w.table),
    shell:
        FORK


rule core:
    input:
        subnetworks=L.table("extractive_subnetworks"),
        components=L.table("extractive_components"),
    output:
        **{name: L.table(f"extractive_{name}") for name in SHARED},
    log:
        L.log("tables/core"),
    params:
        **job("extractive_core", permutations=STUDY.pruning.permutations),
    shell:
        FORK


RESULTS = [L.table(name) for name in TABLES]
TOLD = [(EXPERIMENT, L.root)]
