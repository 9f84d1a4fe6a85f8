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
            arithmetic="native",  # nothing is computed
            code=code_of("fetch"),
            model=STUDY.model.model_dump_json(),
            task=STUDY.task.model_dump_json(),
        shell:
            recorded("step fetch --model {params.model:q} --task {params.task:q} --fetched {output}")

else:

    rule fetch:
        log:
            L.log("fetch"),
        localrule: True
        conda:
            "../../envs/environment.yaml"
        shell:
            "echo 'This study takes nothing from the Hugging Face hub or an address: there is nothing to fetch.' | tee {log}"


SENTENCES = f"{L.data}/sentences/train.parquet"
# A file that is gone since Snakemake saw it read stops the workflow here: the job would remove what was read before it
# fails, and everything would be made anew once the file is back.
if os.path.exists(f".snakemake/metadata/{base64.urlsafe_b64encode(SENTENCES.encode()).decode()}"):
    for key, path in missing_paths(STUDY.task).items():
        raise WorkflowError(
            f"{key}: {path} is not there. Put it there: without it the pairs in {os.path.dirname(SENTENCES)} would be "
            "removed and not made anew"
        )


rule sentences:
    input:
        files=local_paths(STUDY.task),
        fetched=fetched("task"),
    output:
        train=SENTENCES,
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
        **job("sentences"),
        task=STUDY.task.model_dump_json(),
    shell:
        recorded(
            "step sentences --task {params.task:q} --train {output.train} --evaluation {output.evaluation}"
            " --subsets {output.subsets} --splits {output.splits}"
        )


rule encode:
    input:
        train=rules.sentences.output.train,
        evaluation=rules.sentences.output.evaluation,
        subsets=rules.sentences.output.subsets,
        fetched=fetched("model"),
        model=local_files(STUDY.model),
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
        **job("encode"),
        model=STUDY.model.model_dump_json(),
        task=STUDY.task.model_dump_json(),
    shell:
        recorded(
            "fork encode --model {params.model:q} --task {params.task:q} --train-sentences {input.train}"
            " --evaluation-sentences {input.evaluation} --subsets {input.subsets} --train {output.train}"
            " --evaluation {output.evaluation} --tokenizer {output.tokenizer}"
        )
