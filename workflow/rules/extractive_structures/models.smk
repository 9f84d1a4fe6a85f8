from heuristic_core.models.folder import local_files

# Pre-training, teaching of facts, and what is measured of the models.
if TO_FETCH:

    rule fetch:
        output:
            fetched=f"{L.root}/fetched.json",
        log:
            L.log("fetch"),
        localrule: True
        params:
            **job(  # nothing is computed
                "extractive_fetch",
                depends_on="network",
                arithmetic="native",
                pretrained=block(STUDY.pretrained),
            ),
        shell:
            STEP


if STUDY.pretrained:

    rule load:
        input:
            fetched=ancient(rules.fetch.output[0]) if TO_FETCH else [],
            model_files=plain(*local_files(STUDY.pretrained)),
        output:
            checkpoint=L.pretrained,
            tokenizer=L.tokenizer,
        log:
            L.log("load"),
        resources:
            **asks("load"),
        params:
            **job(
                "extractive_load",
                data=block(STUDY.data),
                freezing=block(STUDY.freezing),
                pretrained=block(STUDY.pretrained),
            ),
        shell:
            STEP

else:

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
        **TOKENIZER,
        checkpoint=CHECKPOINT,
    output:
        **HOPS,
        curves=L.of_corpus("curves"),
    log:
        L.log("teach/seed{seed}-{corpus}"),
    resources:
        **asks("teach"),
    params:
        **of_seed("extractive_teach", finetuning=block(STUDY.finetuning), corpus=lambda w: w.corpus, **RUNS),
    shell:
        FORK


rule freeze:
    input:
        **OF_WHOLE,
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE),
    output:
        table=L.of_seed("freezing"),
    log:
        L.log("freeze/seed{seed}"),
    resources:
        **asks("freeze"),
    params:
        **of_seed("extractive_freeze", finetuning=block(STUDY.finetuning), freezing=block(STUDY.freezing), **RUNS),
    shell:
        FORK


rule order:
    input:
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE),
    output:
        **{name: L.of_seed(name) for name in ORDERED},
    log:
        L.log("order/seed{seed}"),
    resources:
        **asks("order"),
    params:
        **of_seed("extractive_order", finetuning=block(STUDY.finetuning), **RUNS),
    shell:
        FORK


rule score:
    input:
        **OF_WHOLE,
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE),
    output:
        **{f"{name}_table": L.of_seed(name) for name in SCORED},
    log:
        L.log("score/seed{seed}"),
    resources:
        **asks("score"),
    params:
        **of_seed("extractive_score", scores=block(STUDY.scores), **EXACTLY),
    shell:
        FORK


rule prune:
    input:
        **OF_WHOLE,
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE),
    output:
        **{name: L.of_seed(name) for name in PRUNED},
    log:
        L.log("prune/seed{seed}"),
    resources:
        **asks("prune"),
    params:
        **of_seed(
            "extractive_prune",
            scores=block(STUDY.scores),
            pruning=block(STUDY.pruning, set(type(STUDY.pruning).model_fields) - {"permutations"}),
            **EXACTLY,
        ),
    shell:
        FORK


if STUDY.sweep:

    rule sweep:
        input:
            **TOKENIZER,
            checkpoint=CHECKPOINT.format(**WHOLE),
        output:
            table=L.of_seed("sweep"),
        log:
            L.log("sweep/seed{seed}"),
        resources:
            **asks("sweep"),
        params:
            **of_seed("extractive_sweep", finetuning=block(STUDY.finetuning), sweep=block(STUDY.sweep), **RUNS),
        shell:
            FORK

    rule made_up_sweep:
        input:
            **TOKENIZER,
            checkpoint=CHECKPOINT.format(**WHOLE),
        output:
            table=L.of_seed("made_up_sweep"),
        log:
            L.log("made_up_sweep/seed{seed}"),
        resources:
            **asks("made_up_sweep"),
        params:
            **of_seed("extractive_made_up_sweep", finetuning=block(STUDY.finetuning), sweep=block(STUDY.sweep), **RUNS),
        shell:
            FORK

    rule choice:
        input:
            table=L.table("extractive_sweep"),
        output:
            choice=L.table("extractive_choice"),
        log:
            L.log("tables/extractive_choice"),
        params:
            **job("extractive_choice", study=STUDY.study),
        shell:
            FORK
