# What pre-training, or what stands in for it, has made: measured before fine-tuning.
rule initial_attention:
    input:
        tokenizer=rules.encode.output.tokenizer,
        subsets=rules.sentences.output.subsets,
        sentences=rules.sentences.output.evaluation,
        fetched=fetched("model"),
        model=local_files(STUDY.model),
        pretrained=START,
    output:
        f"{L.run}/overlap_heads.parquet",
    log:
        L.log("initial_attention/ft{ft_seed}"),
    group:
        "initial_attention"
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks_model("initial_attention"),
    params:
        **job("initial_attention"),
        model=STUDY.model.model_dump_json(),
        pretrained=STARTING_FROM,
        analysis=STUDY.analysis.model_dump_json(include={"attention_pairs", "overlap_times_uniform"}),
        max_length=STUDY.task.max_length,
        identity=IDENTITY,
        device=STUDY.device,
    shell:
        recorded(
            "fork initial_attention --model {params.model:q} {params.pretrained} --analysis {params.analysis:q} {params.identity} --ft-seed {wildcards.ft_seed}"
            " --max-length {params.max_length} --tokenizer {input.tokenizer} --subsets {input.subsets}"
            " --sentences {input.sentences} --table {output} --device {params.device}"
        )


rule finetune:
    input:
        train=rules.encode.output.train,
        evaluation=rules.encode.output.evaluation,
        subsets=rules.sentences.output.subsets,
        tokenizer=rules.encode.output.tokenizer,
        fetched=fetched("model"),
        model=local_files(STUDY.model),
        pretrained=START,
    output:
        checkpoints=[directory(f"{L.run}/step{step}/checkpoint") for step in STUDY.finetune.checkpoints],
        trace=f"{L.run}/trace.parquet",
        predictions=f"{L.run}/evaluations.parquet",
    log:
        L.log("finetune/ft{ft_seed}"),
    conda:
        "../../envs/environment.yaml"
    threads: STUDY.finetune.threads
    resources:
        **asks_model("finetune"),
    params:
        **job("finetune"),
        model=STUDY.model.model_dump_json(),
        pretrained=STARTING_FROM,
        # The other fine-tuning seeds are no part of a run: adding one reruns no other.
        finetune=lambda w: STUDY.finetune.model_copy(update={"seeds": [int(w.ft_seed)]}).model_dump_json(),
        folder=L.run,
        identity=IDENTITY,
        device=STUDY.device,
        precision=STUDY.precision,
    shell:
        recorded(
            "fork finetune --model {params.model:q} {params.pretrained} --finetune {params.finetune:q} {params.identity} --ft-seed {wildcards.ft_seed}"
            " --train {input.train} --evaluation {input.evaluation} --subsets {input.subsets} --tokenizer {input.tokenizer}"
            " --folder {params.folder} --trace {output.trace} --predictions {output.predictions} --threads {threads} --device {params.device} --precision {params.precision}"
        )


rule finetune_accuracy:
    input:
        predictions=rules.finetune.output.predictions,
    output:
        f"{L.run}/accuracy.parquet",
    log:
        L.log("finetune_accuracy/ft{ft_seed}"),
    group:
        "tables"
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks("finetune_accuracy"),
    params:
        **job("finetune_accuracy"),
        analysis=SCORING,
    shell:
        recorded(
            "fork finetune_accuracy --analysis {params.analysis:q} --predictions {input.predictions} --table {output}"
        )


if STUDY.lesion:

    rule lesion:
        input:
            overlap_heads=rules.initial_attention.output,
            train=rules.encode.output.train,
            evaluation=rules.encode.output.evaluation,
            subsets=rules.sentences.output.subsets,
            tokenizer=rules.encode.output.tokenizer,
            fetched=fetched("model"),
            model=local_files(STUDY.model),
            pretrained=START,
        output:
            heads=f"{L.lesion}/heads.parquet",
            trace=f"{L.lesion}/trace.parquet",
            predictions=f"{L.lesion}/evaluations.parquet",
        log:
            L.log("lesion/ft{ft_seed}-{lesion}"),
        conda:
            "../../envs/environment.yaml"
        threads: STUDY.finetune.threads
        resources:
            **asks_model("lesion"),
        params:
            **job("lesion"),
            model=STUDY.model.model_dump_json(),
            pretrained=STARTING_FROM,
            # None of its checkpoints is kept: others than before rerun nothing.
            finetune=lambda w: STUDY.finetune.model_copy(
                update={"seeds": [int(w.ft_seed)], "checkpoints": [STUDY.finetune.steps]}
            ).model_dump_json(),
            analysis=STUDY.analysis.model_dump_json(include={"seed"}),
            folder=L.lesion,
            identity=IDENTITY,
            device=STUDY.device,
            precision=STUDY.precision,
        shell:
            recorded(
                "fork lesion --model {params.model:q} {params.pretrained} --finetune {params.finetune:q} --analysis {params.analysis:q} {params.identity}"
                " --ft-seed {wildcards.ft_seed} --lesion {wildcards.lesion} --overlap-heads {input.overlap_heads} --train {input.train}"
                " --evaluation {input.evaluation} --subsets {input.subsets} --tokenizer {input.tokenizer} --folder {params.folder}"
                " --heads {output.heads} --trace {output.trace} --predictions {output.predictions} --threads {threads}"
                " --device {params.device} --precision {params.precision}"
            )

    rule lesion_accuracy:
        input:
            predictions=rules.lesion.output.predictions,
            heads=rules.lesion.output.heads,
        output:
            f"{L.lesion}/accuracy.parquet",
        log:
            L.log("lesion_accuracy/ft{ft_seed}-{lesion}"),
        group:
            "tables"
        conda:
            "../../envs/environment.yaml"
        resources:
            **asks("lesion_accuracy"),
        params:
            **job("lesion_accuracy"),
            analysis=SCORING,
        shell:
            recorded(
                "fork lesion_accuracy --analysis {params.analysis:q} --predictions {input.predictions} --heads {input.heads}"
                " --table {output}"
            )


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
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks_model("full_model"),
    params:
        **job("full_model"),
        examples=given("examples", STUDY.prune.pairs_needed),
        mean_examples=given("mean-examples", STUDY.prune.mean_examples),
        identity=IDENTITY,
        device=STUDY.device,
        precision=STUDY.precision,
    shell:
        recorded(
            "fork full_model {params.examples} {params.mean_examples} {params.identity} --ft-seed {wildcards.ft_seed} --step {wildcards.step}"
            " --checkpoint {input.checkpoint} --train {input.train} --evaluation {input.evaluation}"
            " --means {output.means} --logits {output.logits} --predictions {output.predictions} --device {params.device} --precision {params.precision}"
        )
