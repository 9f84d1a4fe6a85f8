import json
import re
import sys

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
            **job(
                "fetch",
                depends_on="network",
                arithmetic="native",  # nothing is computed
                model=block(STUDY.model),
                task=block(TASK),
            ),
        shell:
            STEP


SENTENCES = f"{L.data}/sentences/train.parquet"
# A file that is gone since it was read stops the workflow here, too: the job would remove what was read before it fails, and
# everything would be made again once the file is back. Results that were copied here come without such files; and `fetch`
# can go before files that the user brings. Snakemake knows its targets only later: the command line tells.
FETCHES = any(re.fullmatch(r"(\w+_)?fetch", word) for word in sys.argv)
COPIED = os.path.exists(SENTENCES) and not os.path.exists(BEGAN)
if workflow.is_main_process and not (FETCHES or COPIED or config.keys() & {*EXPERIMENT.COMMANDS}):
    try:
        check_sources(STUDY, ORIGIN)
    except ConfigError as error:
        raise WorkflowError(str(error)) from None


rule sentences:
    input:
        files=plain(*local_paths(STUDY.task)),
        fetched=fetched("task"),
    output:
        train=SENTENCES,
        evaluation=f"{L.data}/sentences/evaluation.parquet",
        subsets=f"{L.data}/subsets.json",
        counts=f"{L.data}/counts.json",
    log:
        L.log("sentences"),
    group:
        "data"
    resources:
        **asks("sentences"),
    params:
        **job(
            "sentences",
            task=block(TASK),
            # Checked, but no pair depends on them. Functions of outputs are not compared: other demands run nothing again.
            demands=lambda w, output: json.dumps(STUDY.demands._asdict()),
        ),
    shell:
        STEP


rule encode:
    input:
        train_sentences=rules.sentences.output.train,
        evaluation_sentences=rules.sentences.output.evaluation,
        subsets=rules.sentences.output.subsets,
        counts=rules.sentences.output.counts,
        fetched=fetched("model"),
        model_files=plain(*local_files(STUDY.model)),
    output:
        train=f"{L.data}/encoded/train.safetensors",
        evaluation=f"{L.data}/encoded/evaluation.safetensors",
        tokenizer=directory(f"{L.data}/tokenizer"),
        splits=L.table("splits"),
    log:
        L.log("encode"),
    group:
        "data"
    resources:
        **asks("encode"),
    params:
        **job("encode", model=block(STUDY.model), task=block(TASK)),
    shell:
        FORK


# A rule of its own, so that a study that needs no minimal pairs, or had its pairs encoded before, is as it was.
rule minimal_pairs:
    input:
        sentences=rules.sentences.output.evaluation,
        evaluation=rules.encode.output.evaluation,
        tokenizer=rules.encode.output.tokenizer,
    output:
        minimal=f"{L.data}/encoded/minimal.safetensors",
    log:
        L.log("minimal_pairs"),
    group:
        "data"
    resources:
        **asks("minimal_pairs"),
    params:
        **job("minimal_pairs", task=block(TASK)),
    shell:
        FORK
