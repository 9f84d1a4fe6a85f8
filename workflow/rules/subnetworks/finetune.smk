# Attention of the initial model, before fine-tuning.
rule initial_attention:
    input:
        tokenizer=rules.encode.output.tokenizer,
        subsets=rules.sentences.output.subsets,
        sentences=rules.sentences.output.evaluation,
        fetched=fetch_marker("model"),
        model_files=link_inputs(*local_files(STUDY.model)),
        pretrained=INITIAL_CHECKPOINT,
    output:
        table=f"{LAYOUT.run}/overlap_heads.parquet",
    log:
        LAYOUT.log("initial_attention/ft{ft_seed}"),
    group:
        "initial_attention"
    resources:
        **model_resources("initial_attention"),
    params:
        **job(
            "initial_attention",
            model=format_block(STUDY.model),
            analysis=format_block(STUDY.analysis, {"attention_pairs", "overlap_times_uniform", "seed"}),
            **RUN_SETTINGS,
            max_length=STUDY.task.max_length,
            device=STUDY.device,
        ),
    shell:
        RUN_FORKED


rule finetune:
    input:
        train=rules.encode.output.train,
        evaluation=rules.encode.output.evaluation,
        subsets=rules.sentences.output.subsets,
        tokenizer=rules.encode.output.tokenizer,
        fetched=fetch_marker("model"),
        model_files=link_inputs(*local_files(STUDY.model)),
        pretrained=INITIAL_CHECKPOINT,
    output:
        checkpoints=[directory(f"{LAYOUT.run}/step{step}/checkpoint") for step in STUDY.finetune.checkpoints],
        trace=f"{LAYOUT.run}/trace.parquet",
        predictions=f"{LAYOUT.run}/evaluations.parquet",
    log:
        LAYOUT.log("finetune/ft{ft_seed}"),
    threads: STUDY.finetune.threads
    resources:
        **model_resources("finetune"),
    params:
        **job(
            "finetune",
            model=format_block(STUDY.model),
            finetune=finetune_block,
            **RUN_SETTINGS,
            threads=lambda w, threads: threads,
            **DEVICE_SETTINGS,
        ),
    shell:
        RUN_FORKED


rule finetune_accuracy:
    input:
        predictions=rules.finetune.output.predictions,
    output:
        table=f"{LAYOUT.run}/accuracy.parquet",
    log:
        LAYOUT.log("finetune_accuracy/ft{ft_seed}"),
    priority: 3
    group:
        "tables"
    resources:
        **cluster_resources("finetune_accuracy"),
    params:
        **job("finetune_accuracy", analysis=SCORING),
    shell:
        RUN_FORKED


CHANCE_INPUTS = {
    "full": f"{LAYOUT.run}/step{STUDY.last_checkpoint}/predictions.parquet",
    "subsets": rules.sentences.output.subsets,
}


rule chance:
    input:
        **CHANCE_INPUTS,
    output:
        table=f"{LAYOUT.run}/chance.parquet",
    log:
        LAYOUT.log("chance/ft{ft_seed}"),
    group:
        "tables"
    params:
        **job("chance", analysis=format_block(STUDY.analysis, {"subsets", "class_rule"})),
    shell:
        RUN_FORKED


# Stops the run if the model has not learned the task. Costly jobs wait for the file LEARNED as an unnamed `ancient`
# input that they do not read, so it has no record. Its only param is the command, which Snakemake does not compare: the
# job reruns only with the full model. If it reran for other reasons, Snakemake would miss changed inputs of costly jobs.
LEARNED = f"{LAYOUT.run}/.learned"


rule require_learning:
    input:
        **CHANCE_INPUTS,
    output:
        learned=LEARNED,
    log:
        LAYOUT.log("require_learning/ft{ft_seed}"),
    group:
        "require_learning_ft{ft_seed}"  # a group has one partition, and this job needs no GPU
    params:
        command=job(
            "require_learning",
            has_record=False,
            analysis=format_block(STUDY.analysis, {"subsets", "class_rule", "despite_chance"}),
        )["command"],
    shell:
        RUN_FORKED


if STUDY.lesion:

    rule lesion:
        input:
            ancient(LEARNED),
            overlap_heads=rules.initial_attention.output.table,
            train=rules.encode.output.train,
            evaluation=rules.encode.output.evaluation,
            subsets=rules.sentences.output.subsets,
            tokenizer=rules.encode.output.tokenizer,
            fetched=fetch_marker("model"),
            model_files=link_inputs(*local_files(STUDY.model)),
            pretrained=INITIAL_CHECKPOINT,
        output:
            heads=f"{LAYOUT.lesion}/heads.parquet",
            trace=f"{LAYOUT.lesion}/trace.parquet",
            predictions=f"{LAYOUT.lesion}/evaluations.parquet",
        log:
            LAYOUT.log("lesion/ft{ft_seed}-{lesion}"),
        threads: STUDY.finetune.threads
        resources:
            **model_resources("lesion"),
        params:
            **job(
                "lesion",
                model=format_block(STUDY.model),
                # A lesioned run keeps no checkpoints: a change of `checkpoints` must not rerun it.
                finetune=lambda w: finetune_block(w, checkpoints=[STUDY.finetune.steps]),
                analysis=format_block(STUDY.analysis, {"seed"}),
                **RUN_SETTINGS,
                lesion=lambda w: w.lesion,
                threads=lambda w, threads: threads,
                **DEVICE_SETTINGS,
            ),
        shell:
            RUN_FORKED

    rule lesion_accuracy:
        input:
            predictions=rules.lesion.output.predictions,
            heads=rules.lesion.output.heads,
        output:
            table=f"{LAYOUT.lesion}/accuracy.parquet",
        log:
            LAYOUT.log("lesion_accuracy/ft{ft_seed}-{lesion}"),
        group:
            "tables"
        resources:
            **cluster_resources("lesion_accuracy"),
        params:
            **job("lesion_accuracy", analysis=SCORING),
        shell:
            RUN_FORKED


rule full_model:
    input:
        checkpoint=f"{LAYOUT.step}/checkpoint",
        train=rules.encode.output.train,
        evaluation=rules.encode.output.evaluation,
    output:
        means=f"{LAYOUT.step}/means.safetensors",
        logits=f"{LAYOUT.step}/logits.safetensors",
        predictions=f"{LAYOUT.step}/predictions.parquet",
    log:
        LAYOUT.log("full_model/ft{ft_seed}-step{step}"),
    priority: first_steps_first
    group:
        MODELS
    resources:
        **model_resources("full_model"),
    params:
        **job(
            "full_model",
            examples=STUDY.prune.pairs_needed,
            mean_examples=STUDY.prune.mean_examples,
            **RUN_SETTINGS,
            step=lambda w: w.step,
            **DEVICE_SETTINGS,
        ),
    shell:
        RUN_FORKED
