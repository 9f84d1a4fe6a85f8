# What pre-training, or what replaces it, has made: measured before fine-tuning.
rule initial_attention:
    input:
        tokenizer=rules.encode.output.tokenizer,
        subsets=rules.sentences.output.subsets,
        sentences=rules.sentences.output.evaluation,
        fetched=fetched("model"),
        model_files=plain(*local_files(STUDY.model)),
        pretrained=START,
    output:
        table=f"{L.run}/overlap_heads.parquet",
    log:
        L.log("initial_attention/ft{ft_seed}"),
    group:
        "initial_attention"
    resources:
        **asks_model("initial_attention"),
    params:
        **job(
            "initial_attention",
            model=block(STUDY.model),
            analysis=block(STUDY.analysis, {"attention_pairs", "overlap_times_uniform", "seed"}),
            **RUN,
            max_length=STUDY.task.max_length,
            device=STUDY.device,
        ),
    shell:
        FORK


rule finetune:
    input:
        train=rules.encode.output.train,
        evaluation=rules.encode.output.evaluation,
        subsets=rules.sentences.output.subsets,
        tokenizer=rules.encode.output.tokenizer,
        fetched=fetched("model"),
        model_files=plain(*local_files(STUDY.model)),
        pretrained=START,
    output:
        checkpoints=[directory(f"{L.run}/step{step}/checkpoint") for step in STUDY.finetune.checkpoints],
        trace=f"{L.run}/trace.parquet",
        predictions=f"{L.run}/evaluations.parquet",
    log:
        L.log("finetune/ft{ft_seed}"),
    threads: STUDY.finetune.threads
    resources:
        **asks_model("finetune"),
    params:
        **job(
            "finetune",
            model=block(STUDY.model),
            finetune=finetuning_of,
            **RUN,
            threads=lambda w, threads: threads,
            **DEVICE,
        ),
    shell:
        FORK


rule finetune_accuracy:
    input:
        predictions=rules.finetune.output.predictions,
    output:
        table=f"{L.run}/accuracy.parquet",
    log:
        L.log("finetune_accuracy/ft{ft_seed}"),
    group:
        "tables"
    resources:
        **asks("finetune_accuracy"),
    params:
        **job("finetune_accuracy", analysis=SCORING),
    shell:
        FORK


JUDGED = {
    "full": f"{L.run}/step{STUDY.last_checkpoint}/predictions.parquet",
    "subsets": rules.sentences.output.subsets,
}


rule chance:
    input:
        **JUDGED,
    output:
        table=f"{L.run}/chance.parquet",
    log:
        L.log("chance/ft{ft_seed}"),
    group:
        "tables"
    params:
        **job("chance", analysis=block(STUDY.analysis, {"subsets", "class_rule"})),
    shell:
        FORK


# Ends the run of a model that has learned nothing. What is costly waits for the file LEARNED, as `ancient`, and reads nothing
# of it: so it has no name among the inputs there, and leaves no record. Where another file or setting than those from which
# the costly jobs descend made this job run again, Snakemake would miss what has changed for them. So its params, but for the
# command, which Snakemake does not compare, are left out: the job runs again with the full model alone.
LEARNED = f"{L.run}/.learned"


rule learned:
    input:
        **JUDGED,
    output:
        learned=LEARNED,
    log:
        L.log("learned/ft{ft_seed}"),
    group:
        "learned_ft{ft_seed}"  # a group's jobs ask for one partition, and this job needs no GPU
    params:
        command=job(
            "learned", recorded=False, analysis=block(STUDY.analysis, {"subsets", "class_rule", "despite_chance"})
        )["command"],
    shell:
        FORK


if STUDY.lesion:

    rule lesion:
        input:
            ancient(LEARNED),
            overlap_heads=rules.initial_attention.output.table,
            train=rules.encode.output.train,
            evaluation=rules.encode.output.evaluation,
            subsets=rules.sentences.output.subsets,
            tokenizer=rules.encode.output.tokenizer,
            fetched=fetched("model"),
            model_files=plain(*local_files(STUDY.model)),
            pretrained=START,
        output:
            heads=f"{L.lesion}/heads.parquet",
            trace=f"{L.lesion}/trace.parquet",
            predictions=f"{L.lesion}/evaluations.parquet",
        log:
            L.log("lesion/ft{ft_seed}-{lesion}"),
        threads: STUDY.finetune.threads
        resources:
            **asks_model("lesion"),
        params:
            **job(
                "lesion",
                model=block(STUDY.model),
                # None of its checkpoints is kept: others than before rerun nothing.
                finetune=lambda w: finetuning_of(w, checkpoints=[STUDY.finetune.steps]),
                analysis=block(STUDY.analysis, {"seed"}),
                **RUN,
                lesion=lambda w: w.lesion,
                threads=lambda w, threads: threads,
                **DEVICE,
            ),
        shell:
            FORK

    rule lesion_accuracy:
        input:
            predictions=rules.lesion.output.predictions,
            heads=rules.lesion.output.heads,
        output:
            table=f"{L.lesion}/accuracy.parquet",
        log:
            L.log("lesion_accuracy/ft{ft_seed}-{lesion}"),
        group:
            "tables"
        resources:
            **asks("lesion_accuracy"),
        params:
            **job("lesion_accuracy", analysis=SCORING),
        shell:
            FORK


rule full_model:
    input:
        checkpoint=f"{L.step}/checkpoint",
        train=rules.encode.output.train,
        evaluation=rules.encode.output.evaluation,
    output:
        means=f"{L.step}/means.safetensors",
        logits=f"{L.step}/logits.safetensors",
        predictions=f"{L.step}/predictions.parquet",
    log:
        L.log("full_model/ft{ft_seed}-step{step}"),
    group:
        MODELS
    resources:
        **asks_model("full_model"),
    params:
        **job(
            "full_model",
            examples=STUDY.prune.pairs_needed,
            mean_examples=STUDY.prune.mean_examples,
            **RUN,
            step=lambda w: w.step,
            **DEVICE,
        ),
    shell:
        FORK
