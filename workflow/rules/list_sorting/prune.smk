# Prune the halves of heads.
rule prune:
    input:
        checkpoints=checkpoints,
    output:
        subsets=L.part("subsets"),
        masks=L.part("masks"),
    log:
        L.log("prune/{condition}"),
    params:
        **condition_params("sorting_prune", prune=block(STUDY.prune, SUBSET_SETTINGS) if STUDY.prune else None),
    shell:
        FORK


rule core:
    input:
        **{name: L.table(f"sorting_{name}") for name in ("subsets", "masks", "heads")},
    output:
        sizes=L.table("sorting_sizes"),
        core=L.table("sorting_core"),
    log:
        L.log("tables/core"),
    params:
        **job("sorting_core", prune=block(STUDY.prune, {"margin", "kl"}) if STUDY.prune else None),
    shell:
        FORK
