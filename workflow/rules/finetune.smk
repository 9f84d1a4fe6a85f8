rule finetune:
    input:
        train=rules.encode.output.train,
        evaluation=rules.encode.output.evaluation,
        subsets=rules.sentences.output.subsets,
        tokenizer=rules.encode.output.tokenizer,
        fetched=fetched("model"),
        model=local_files(STUDY.model),
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
        model=STUDY.model.model_dump_json(),
        # The other fine-tuning seeds are no part of a run: adding one reruns no other.
        finetune=lambda w: STUDY.finetune.model_copy(update={"seeds": [int(w.ft_seed)]}).model_dump_json(),
        folder=L.run,
        identity=IDENTITY,
        device=STUDY.device,
        precision=STUDY.precision,
        code=SCRIPTS["finetune"],
    shell:
        recorded(
            "step finetune --model {params.model:q} --finetune {params.finetune:q} {params.identity} --ft-seed {wildcards.ft_seed}"
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
        analysis=SCORING,
        code=SCRIPTS["finetune_accuracy"],
    shell:
        recorded(
            "fork finetune_accuracy --analysis {params.analysis:q} --predictions {input.predictions} --table {output}"
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
        examples=given("examples", STUDY.prune.pairs_needed),
        mean_examples=given("mean-examples", STUDY.prune.mean_examples),
        identity=IDENTITY,
        device=STUDY.device,
        precision=STUDY.precision,
        code=SCRIPTS["full_model"],
    shell:
        recorded(
            "fork full_model {params.examples} {params.mean_examples} {params.identity} --ft-seed {wildcards.ft_seed} --step {wildcards.step}"
            " --checkpoint {input.checkpoint} --train {input.train} --evaluation {input.evaluation}"
            " --means {output.means} --logits {output.logits} --predictions {output.predictions} --device {params.device} --precision {params.precision}"
        )
