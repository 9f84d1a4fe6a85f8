# Training, and measurements of every checkpoint.
for name, steps in KEPT_STEPS.items():

    rule:
        name:
            f"train_{name}"
        output:
            checkpoints=[LAYOUT.checkpoint.format(condition=name, step=step) for step in steps],
            trace=LAYOUT.part("trace").format(condition=name),
            conditions=LAYOUT.part("conditions").format(condition=name),
        log:
            LAYOUT.log(f"train/{name}"),
        params:
            **job(
                "sorting_train",
                sorting=format_block(STUDY.condition_settings(name)),
                study=STUDY.study,
                condition=name,
            ),
        shell:
            RUN_FORKED


rule measure:
    input:
        checkpoints=list_checkpoints,
    output:
        models=LAYOUT.part("models"),
        heads=LAYOUT.part("heads"),
        ablations=LAYOUT.part("ablations"),
        mode_ablations=LAYOUT.part("mode_ablations"),
        numbers=LAYOUT.part("numbers"),
        matrices=LAYOUT.part("matrices"),
        distance=LAYOUT.part("distance"),
    log:
        LAYOUT.log("measure/{condition}"),
    params:
        **condition_params("sorting_measure", measure=format_block(STUDY.measure)),
    shell:
        RUN_FORKED


rule llc:
    input:
        checkpoint=LAYOUT.checkpoint,
    output:
        table=f"{LAYOUT.condition}/llc-step{{step}}.parquet",
    log:
        LAYOUT.log("llc/{condition}-step{step}"),
    params:
        **condition_params("sorting_llc", llc=format_block(STUDY.llc) if STUDY.llc else None, step=lambda w: w.step),
    shell:
        RUN_FORKED
