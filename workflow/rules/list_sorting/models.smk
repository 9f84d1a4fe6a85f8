# Train models, and measure every checkpoint.
for name, steps in KEPT.items():

    rule:
        name:
            f"train_{name}"
        output:
            checkpoints=[L.checkpoint.format(condition=name, step=step) for step in steps],
            trace=L.part("trace").format(condition=name),
            conditions=L.part("conditions").format(condition=name),
        log:
            L.log(f"train/{name}"),
        params:
            **job(
                "sorting_train",
                sorting=block(STUDY.of(name)),
                study=STUDY.study,
                condition=name,
            ),
        shell:
            FORK


rule measure:
    input:
        checkpoints=checkpoints,
    output:
        **{name: L.part(name) for name in MEASURED},
    log:
        L.log("measure/{condition}"),
    params:
        **condition_params("sorting_measure", measure=block(STUDY.measure)),
    shell:
        FORK


rule llc:
    input:
        checkpoint=L.checkpoint,
    output:
        table=f"{L.condition}/llc-step{{step}}.parquet",
    log:
        L.log("llc/{condition}-step{step}"),
    params:
        **condition_params("sorting_llc", llc=block(STUDY.llc) if STUDY.llc else None, step=lambda w: w.step),
    shell:
        FORK
