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
        **job("extractive_concatenate", name=lambda w: w.table),
    shell:
        RUN_FORKED


rule core:
    input:
        subnetworks=LAYOUT.table("extractive_subnetworks"),
        components=LAYOUT.table("extractive_components"),
    output:
        **{name: LAYOUT.table(f"extractive_{name}") for name in ("core", "sharing")},
    log:
        LAYOUT.log("tables/core"),
    params:
        **job("extractive_core", permutations=STUDY.pruning.permutations),
    shell:
        RUN_FORKED
