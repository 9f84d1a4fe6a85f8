# Pruning of halves of heads.
rule prune:
    input:
        checkpoints=list_checkpoints,
    output:
        subsets=LAYOUT.part("subsets"),
        masks=LAYOUT.part("masks"),
    log:
        LAYOUT.log("prune/{condition}"),
    params:
        **condition_params("sorting_prune", prune=format_block(STUDY.prune, PRUNING_KEYS) if STUDY.prune else None),
    shell:
        RUN_FORKED


rule core:
    input:
        **{name: LAYOUT.table(f"sorting_{name}") for name in ("subsets", "masks", "heads")},
    output:
        sizes=LAYOUT.table("sorting_sizes"),
        core=LAYOUT.table("sorting_core"),
    log:
        LAYOUT.log("tables/core"),
    params:
        **job("sorting_core", prune=format_block(STUDY.prune, {"margin", "kl"}) if STUDY.prune else None),
    shell:
        RUN_FORKED
