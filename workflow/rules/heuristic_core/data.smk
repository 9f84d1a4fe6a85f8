if not TO_FETCH:
    NOTHING = "This study takes nothing from the Hugging Face hub or an address: there is nothing to fetch."
    ABSENT["fetch"] = L.log("fetch"), 0, NOTHING
if TO_FETCH:

    rule fetch:
        output:
            fetched=f"{L.data}/fetched.json",
        log:
            L.log("fetch"),
        localrule: True
        params:
            **job("fetch", arithmetic="native", model=block(STUDY.model), task=block(STUDY.task)),  # nothing is computed
        shell:
            STEP


SENTENCES = f"{L.data}/sentences/train.parquet"
# A file that is gone since it was read here stops the workflow here: the job would remove what was read before it fails,
# and everything would be made again once the file is back.
if os.path.exists(SENTENCES) and os.path.exists(BEGAN):
    for key, path in missing_paths(STUDY.task).items():
        raise WorkflowError(
            f"{key}: {path} is not there. Put it there: without it the pairs in {os.path.dirname(SENTENCES)} would be "
            "removed and not made again"
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
    resources:
        **asks("sentences"),
    params:
        **job("sentences", task=block(STUDY.task)),
    shell:
        STEP


rule encode:
    input:
        train_sentences=rules.sentences.output.train,
        evaluation_sentences=rules.sentences.output.evaluation,
        subsets=rules.sentences.output.subsets,
        fetched=fetched("model"),
        model_files=local_files(STUDY.model),
    output:
        train=f"{L.data}/encoded/train.safetensors",
        evaluation=f"{L.data}/encoded/evaluation.safetensors",
        tokenizer=directory(f"{L.data}/tokenizer"),
    log:
        L.log("encode"),
    group:
        "data"
    resources:
        **asks("encode"),
    params:
        **job("encode", model=block(STUDY.model), task=block(STUDY.task)),
    shell:
        FORK
