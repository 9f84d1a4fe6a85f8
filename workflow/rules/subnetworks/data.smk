import json
import re
import sys

if not DOWNLOAD_BLOCKS:
    NOTHING_TO_FETCH = "This study needs no downloads: nothing to fetch."
    UNAVAILABLE_RULES["fetch"] = LAYOUT.log("fetch"), 0, NOTHING_TO_FETCH
if DOWNLOAD_BLOCKS:

    rule fetch:
        output:
            fetched=f"{LAYOUT.data}/fetched.json",
        log:
            LAYOUT.log("fetch"),
        localrule: True
        params:
            **job(
                "fetch",
                depends_on="network",
                arithmetic="native",  # nothing is computed
                model=format_block(STUDY.model),
                task=format_block(TASK),
            ),
        shell:
            RUN_FRESH


SENTENCES = f"{LAYOUT.data}/sentences/train.parquet"
# Stop if a source file is missing, even after it was read: otherwise the job would delete its results before it fails,
# and everything would be made again. Copied results need no sources, and `fetch` may run before the user adds files.
# Targets are read from the command line: `workflow.dag_settings` is set after the rules are read, and Snakemake shows
# errors of input functions, which it calls later, with a traceback.
IS_FETCH_RUN = any(re.fullmatch(r"(\w+_)?fetch", word) for word in sys.argv)
RESULTS_WERE_COPIED = os.path.exists(SENTENCES) and not os.path.exists(ORIGIN_MARKER)
if workflow.is_main_process and not (IS_FETCH_RUN or RESULTS_WERE_COPIED or config.keys() & {*EXPERIMENT.commands}):
    try:
        check_sources(STUDY, ORIGIN)
    except InputError as error:
        raise WorkflowError(str(error)) from None


rule sentences:
    input:
        files=link_inputs(*find_local_paths(STUDY.task)),
        fetched=fetch_marker("task"),
    output:
        train=SENTENCES,
        evaluation=f"{LAYOUT.data}/sentences/evaluation.parquet",
        subsets=f"{LAYOUT.data}/subsets.json",
        counts=f"{LAYOUT.data}/counts.json",
    log:
        LAYOUT.log("sentences"),
    group:
        "data"
    resources:
        **cluster_resources("sentences"),
    params:
        **job(
            "sentences",
            task=format_block(TASK),
            # Requirements are checked but change no pair. As a function of outputs, they rerun nothing when they change.
            demands=lambda w, output: json.dumps(STUDY.requirements._asdict()),
        ),
    shell:
        RUN_FRESH


rule encode:
    input:
        train_sentences=rules.sentences.output.train,
        evaluation_sentences=rules.sentences.output.evaluation,
        subsets=rules.sentences.output.subsets,
        counts=rules.sentences.output.counts,
        fetched=fetch_marker("model"),
        model_files=link_inputs(*local_files(STUDY.model)),
    output:
        train=f"{LAYOUT.data}/encoded/train.safetensors",
        evaluation=f"{LAYOUT.data}/encoded/evaluation.safetensors",
        tokenizer=directory(f"{LAYOUT.data}/tokenizer"),
        splits=LAYOUT.table("splits"),
    log:
        LAYOUT.log("encode"),
    group:
        "data"
    resources:
        **cluster_resources("encode"),
    params:
        **job("encode", model=format_block(STUDY.model), task=format_block(TASK)),
    shell:
        RUN_FORKED


# A separate rule: a study that needs no minimal pairs, or was encoded before there was this rule, does not rerun.
rule minimal_pairs:
    input:
        sentences=rules.sentences.output.evaluation,
        evaluation=rules.encode.output.evaluation,
        tokenizer=rules.encode.output.tokenizer,
    output:
        minimal=f"{LAYOUT.data}/encoded/minimal.safetensors",
    log:
        LAYOUT.log("minimal_pairs"),
    group:
        "data"
    resources:
        **cluster_resources("minimal_pairs"),
    params:
        **job("minimal_pairs", task=format_block(TASK)),
    shell:
        RUN_FORKED
