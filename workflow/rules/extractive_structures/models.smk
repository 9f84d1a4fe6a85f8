from heuristic_core.models.folder import local_files

# Pre-training, teaching facts, and measures of the models.
if NEEDS_FETCH:

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
            fetched=ancient(rules.fetch.output[0]) if NEEDS_FETCH else [],
            model_files=plain(*local_files(STUDY.pretrained)),
        output:
            checkpoint=L.pretrained,
            tokenizer=L.tokenizer,
        log:
            L.log("load"),
        resources:
            **cluster_resources("load"),
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
            **seed_params(
                "extractive_pretrain",
                model=block(STUDY.model),
                pretraining=block(STUDY.pretraining, PRETRAINING_FIELDS),
                corpus=lambda w: w.corpus,
            ),
        shell:
            FORK


rule teach:
    input:
        **TOKENIZER,
        checkpoint=CHECKPOINT,
    output:
        **HOP_WEIGHTS,
        curves=L.of_corpus("curves"),
    log:
        L.log("teach/seed{seed}-{corpus}"),
    resources:
        **cluster_resources("teach"),
    params:
        **seed_params(
            "extractive_teach", finetuning=block(STUDY.finetuning), corpus=lambda w: w.corpus, **DEVICE_SETTINGS
        ),
    shell:
        FORK


rule freeze:
    input:
        **WHOLE_HOP_WEIGHTS,
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
    output:
        table=L.of_seed("freezing"),
    log:
        L.log("freeze/seed{seed}"),
    resources:
        **cluster_resources("freeze"),
    params:
        **seed_params(
            "extractive_freeze", finetuning=block(STUDY.finetuning), freezing=block(STUDY.freezing), **DEVICE_SETTINGS
        ),
    shell:
        FORK


rule order:
    input:
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
    output:
        **{name: L.of_seed(name) for name in ORDERED},
    log:
        L.log("order/seed{seed}"),
    resources:
        **cluster_resources("order"),
    params:
        **seed_params("extractive_order", finetuning=block(STUDY.finetuning), **DEVICE_SETTINGS),
    shell:
        FORK


rule score:
    input:
        **WHOLE_HOP_WEIGHTS,
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
    output:
        **{f"{name}_table": L.of_seed(name) for name in SCORED},
    log:
        L.log("score/seed{seed}"),
    resources:
        **cluster_resources("score"),
    params:
        **seed_params("extractive_score", scores=block(STUDY.scores), **FLOAT32_SETTINGS),
    shell:
        FORK


rule prune:
    input:
        **WHOLE_HOP_WEIGHTS,
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
    output:
        **{name: L.of_seed(name) for name in PRUNED},
    log:
        L.log("prune/seed{seed}"),
    resources:
        **cluster_resources("prune"),
    params:
        **seed_params(
            "extractive_prune",
            scores=block(STUDY.scores),
            pruning=block(STUDY.pruning, set(type(STUDY.pruning).model_fields) - {"permutations"}),
            **FLOAT32_SETTINGS,
        ),
    shell:
        FORK


if STUDY.sweep:

    rule sweep:
        input:
            **TOKENIZER,
            checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
        output:
            table=L.of_seed("sweep"),
        log:
            L.log("sweep/seed{seed}"),
        resources:
            **cluster_resources("sweep"),
        params:
            **seed_params(
                "extractive_sweep", finetuning=block(STUDY.finetuning), sweep=block(STUDY.sweep), **DEVICE_SETTINGS
            ),
        shell:
            FORK

    rule made_up_sweep:
        input:
            **TOKENIZER,
            checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
        output:
            table=L.of_seed("made_up_sweep"),
        log:
            L.log("made_up_sweep/seed{seed}"),
        resources:
            **cluster_resources("made_up_sweep"),
        params:
            **seed_params(
                "extractive_made_up_sweep",
                finetuning=block(STUDY.finetuning),
                sweep=block(STUDY.sweep),
                **DEVICE_SETTINGS,
            ),
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
