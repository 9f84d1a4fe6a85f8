from heuristic_core.models.folder import local_files

# Pre-training, teaching of facts, and measurements of the models.
if NEEDS_DOWNLOAD:

    rule fetch:
        output:
            fetched=f"{LAYOUT.root}/fetched.json",
        log:
            LAYOUT.log("fetch"),
        localrule: True
        params:
            **job(  # nothing is computed
                "extractive_fetch",
                depends_on="network",
                arithmetic="native",
                pretrained=format_block(STUDY.pretrained),
            ),
        shell:
            RUN_FRESH


if STUDY.pretrained:

    rule load:
        input:
            fetched=ancient(rules.fetch.output[0]) if NEEDS_DOWNLOAD else [],
            model_files=link_inputs(*local_files(STUDY.pretrained)),
        output:
            checkpoint=LAYOUT.pretrained,
            tokenizer=LAYOUT.tokenizer,
        log:
            LAYOUT.log("load"),
        resources:
            **model_resources("load"),
        params:
            **job(
                "extractive_load",
                data=format_block(STUDY.data),
                freezing=format_block(STUDY.freezing),
                pretrained=format_block(STUDY.pretrained),
            ),
        shell:
            RUN_FRESH

else:

    rule pretrain:
        output:
            checkpoint=LAYOUT.model,
            trace=LAYOUT.corpus_table("trace"),
        log:
            LAYOUT.log("pretrain/seed{seed}-{corpus}"),
        params:
            **seed_params(
                "extractive_pretrain",
                model=format_block(STUDY.model),
                pretraining=format_block(STUDY.pretraining, PRETRAINING_KEYS),
                corpus=lambda w: w.corpus,
            ),
        shell:
            RUN_FORKED


rule teach:
    input:
        **TOKENIZER,
        checkpoint=CHECKPOINT,
    output:
        **HOPS,
        curves=LAYOUT.corpus_table("curves"),
    log:
        LAYOUT.log("teach/seed{seed}-{corpus}"),
    resources:
        **model_resources("teach"),
    params:
        **seed_params(
            "extractive_teach", finetuning=format_block(STUDY.finetuning), corpus=lambda w: w.corpus, **MODEL_SETTINGS
        ),
    shell:
        RUN_FORKED


rule freeze:
    input:
        **WHOLE_CORPUS_HOPS,
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
    output:
        table=LAYOUT.seed_table("freezing"),
    log:
        LAYOUT.log("freeze/seed{seed}"),
    resources:
        **model_resources("freeze"),
    params:
        **seed_params(
            "extractive_freeze",
            finetuning=format_block(STUDY.finetuning),
            freezing=format_block(STUDY.freezing),
            **MODEL_SETTINGS,
        ),
    shell:
        RUN_FORKED


rule order:
    input:
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
    output:
        ordering=LAYOUT.seed_table("ordering"),
        grafting=LAYOUT.seed_table("grafting"),
        localisation=LAYOUT.seed_table("localisation"),
    log:
        LAYOUT.log("order/seed{seed}"),
    resources:
        **model_resources("order"),
    params:
        **seed_params("extractive_order", finetuning=format_block(STUDY.finetuning), **MODEL_SETTINGS),
    shell:
        RUN_FORKED


rule score:
    input:
        **WHOLE_CORPUS_HOPS,
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
    output:
        scores_table=LAYOUT.seed_table("scores"),
        components_table=LAYOUT.seed_table("components"),
        agreement_table=LAYOUT.seed_table("agreement"),
        removal_table=LAYOUT.seed_table("removal"),
    log:
        LAYOUT.log("score/seed{seed}"),
    resources:
        **model_resources("score"),
    params:
        **seed_params("extractive_score", scores=format_block(STUDY.scores), **FLOAT32_SETTINGS),
    shell:
        RUN_FORKED


rule prune:
    input:
        **WHOLE_CORPUS_HOPS,
        **TOKENIZER,
        checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
    output:
        subnetworks=LAYOUT.seed_table("subnetworks"),
        transfer=LAYOUT.seed_table("transfer"),
    log:
        LAYOUT.log("prune/seed{seed}"),
    resources:
        **model_resources("prune"),
    params:
        **seed_params(
            "extractive_prune",
            scores=format_block(STUDY.scores),
            pruning=format_block(STUDY.pruning, set(type(STUDY.pruning).model_fields) - {"permutations"}),
            **FLOAT32_SETTINGS,
        ),
    shell:
        RUN_FORKED


if STUDY.sweep:

    rule sweep:
        input:
            **TOKENIZER,
            checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
        output:
            table=LAYOUT.seed_table("sweep"),
        log:
            LAYOUT.log("sweep/seed{seed}"),
        resources:
            **model_resources("sweep"),
        params:
            **seed_params(
                "extractive_sweep",
                finetuning=format_block(STUDY.finetuning),
                sweep=format_block(STUDY.sweep),
                **MODEL_SETTINGS,
            ),
        shell:
            RUN_FORKED

    rule made_up_sweep:
        input:
            **TOKENIZER,
            checkpoint=CHECKPOINT.format(**WHOLE_CORPUS),
        output:
            table=LAYOUT.seed_table("made_up_sweep"),
        log:
            LAYOUT.log("made_up_sweep/seed{seed}"),
        resources:
            **model_resources("made_up_sweep"),
        params:
            **seed_params(
                "extractive_made_up_sweep",
                finetuning=format_block(STUDY.finetuning),
                sweep=format_block(STUDY.sweep),
                **MODEL_SETTINGS,
            ),
        shell:
            RUN_FORKED

    rule choice:
        input:
            table=LAYOUT.table("extractive_sweep"),
        output:
            choice=LAYOUT.table("extractive_choice"),
        log:
            LAYOUT.log("tables/extractive_choice"),
        params:
            **job("extractive_choice", study=STUDY.study),
        shell:
            RUN_FORKED
