# Tables of the whole study, and what they were made from.
PARTS = {
    f"extractive_{name}": expand(L.of_corpus(name), seed=STUDY.seeds, corpus=STUDY.pretraining.corpora)
    for name in OF_CORPUS
}
PARTS |= {f"extractive_{name}": expand(L.of_seed(name), seed=STUDY.seeds) for name in ("freezing", *ORDERED, *SCORED)}


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


rule describe:
    output:
        description=f"{L.root}/study.json",
    log:
        L.log("tables/describe"),
    group:
        "tables"
    params:
        **job("describe", settings=block(STUDY)),
    shell:
        FORK


rule provenance:
    input:
        rules.describe.output,
        [L.table(name) for name in EXTRACTIVE],
    output:
        table=L.table("provenance"),
    log:
        L.log("tables/provenance"),
    group:
        "tables"
    params:
        **job("provenance", recorded=False, root=lambda w, input: os.path.dirname(input[0])),
    shell:
        FORK


RESULTS = [*map(L.table, EXTRACTIVE), rules.provenance.output.table]
TOLD = [(EXPERIMENT, L.root)]
