# Pre-training, teaching of facts, and what is measured of the models.
rule pretrain:
    output:
        checkpoint=L.model,
        trace=L.of_corpus("trace"),
    log:
        L.log("pretrain/seed{seed}-{corpus}"),
    params:
        **of_seed(
            "extractive_pretrain",
            model=block(STUDY.model),
            pretraining=block(STUDY.pretraining, LEARNING),
            corpus=lambda w: w.corpus,
        ),
    shell:
        FORK


rule teach:
    input:
        checkpoint=L.model,
    output:
        **HOPS,
        curves=L.of_corpus("curves"),
    log:
        L.log("teach/seed{seed}-{corpus}"),
    params:
        **of_seed("extractive_teach", finetuning=block(STUDY.finetuning), corpus=lambda w: w.corpus),
    shell:
        FORK


rule freeze:
    input:
        **OF_WHOLE,
        checkpoint=L.model.format(**WHOLE),
    output:
        table=L.of_seed("freezing"),
    log:
        L.log("freeze/seed{seed}"),
    params:
        **of_seed("extractive_freeze", finetuning=block(STUDY.finetuning), freezing=block(STUDY.freezing)),
    shell:
        FORK


rule order:
    input:
        checkpoint=L.model.format(**WHOLE),
    output:
        **{name: L.of_seed(name) for name in ORDERED},
    log:
        L.log("order/seed{seed}"),
    params:
        **of_seed("extractive_order", finetuning=block(STUDY.finetuning)),
    shell:
        FORK


rule score:
    input:
        **OF_WHOLE,
        checkpoint=L.model.format(**WHOLE),
    output:
        **{f"{name}_table": L.of_seed(name) for name in SCORED},
    log:
        L.log("score/seed{seed}"),
    params:
        **of_seed("extractive_score", scores=block(STUDY.scores)),
    shell:
        FORK


rule prune:
    input:
        **OF_WHOLE,
        checkpoint=L.model.format(**WHOLE),
    output:
        **{name: L.of_seed(name) for name in PRUNED},
    log:
        L.log("prune/seed{seed}"),
    params:
        **of_seed(
            "extractive_prune",
            scores=block(STUDY.scores),
            pruning=block(STUDY.pruning, set(type(STUDY.pruning).model_fields) - {"permutations"}),
        ),
    shell:
        FORK
