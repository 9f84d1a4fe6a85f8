if TO_FETCH:

    rule fetch:
        output:
            f"{L.data}/fetched.json",
        log:
            L.log("fetch"),
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            model=STUDY.model.model_dump_json(),
            task=STUDY.task.model_dump_json(),
            code=SCRIPTS["fetch"],
        shell:
            "step fetch --model {params.model:q} --task {params.task:q} --fetched {output} --log {log}"

else:

    rule fetch:
        log:
            L.log("fetch"),
        localrule: True
        conda:
            "../../envs/environment.yaml"
        shell:
            "echo 'This study takes nothing from the Hugging Face hub or an address: there is nothing to fetch.' | tee {log}"


rule sentences:
    input:
        files=local_paths(STUDY.task),
        fetched=fetched("task"),
    output:
        train=f"{L.data}/sentences/train.parquet",
        evaluation=f"{L.data}/sentences/evaluation.parquet",
        subsets=f"{L.data}/subsets.json",
        splits=L.table("splits"),
    log:
        L.log("sentences"),
    group:
        "data"
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks("sentences"),
    params:
        task=STUDY.task.model_dump_json(),
        code=SCRIPTS["sentences"],
    shell:
        "step sentences --task {params.task:q} --train {output.train} --evaluation {output.evaluation}"
        " --subsets {output.subsets} --splits {output.splits} --log {log}"


rule encode:
    input:
        train=rules.sentences.output.train,
        evaluation=rules.sentences.output.evaluation,
        subsets=rules.sentences.output.subsets,
        fetched=fetched("model"),
    output:
        train=f"{L.data}/encoded/train.safetensors",
        evaluation=f"{L.data}/encoded/evaluation.safetensors",
        tokenizer=directory(f"{L.data}/tokenizer"),
    log:
        L.log("encode"),
    group:
        "data"
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks("encode"),
    params:
        model=STUDY.model.model_dump_json(),
        task=STUDY.task.model_dump_json(),
        code=SCRIPTS["encode"],
    shell:
        "step encode --model {params.model:q} --task {params.task:q} --train-sentences {input.train}"
        " --evaluation-sentences {input.evaluation} --subsets {input.subsets} --train {output.train}"
        " --evaluation {output.evaluation} --tokenizer {output.tokenizer} --log {log}"
