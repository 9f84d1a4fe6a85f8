# Pre-training of a new model. Studies of a pretrained model, such as the default one, skip it.
INITIAL_CHECKPOINT = []
# Left out for pairs, whose text depends on no setting of the task.
UNLABELLED_TEXT = (
    {"text": format_block(STUDY.task.text)} if STUDY.pretraining and STUDY.task.sentence_count == 1 else {}
)
if not STUDY.pretraining:
    UNAVAILABLE_RULES["pretrain"] = (
        LAYOUT.log("pretrain"),
        0,
        "This study has no pre-training: block `model` has no `pretraining`.",
    )
if STUDY.pretraining:

    rule pretrain:
        input:
            tokenizer=ancient(rules.encode.output.tokenizer),  # does not depend on the encoded pairs
        output:
            checkpoint=directory(f"{LAYOUT.runs}/pretraining/checkpoint"),
            trace=LAYOUT.table("pretraining_trace"),
            attention=LAYOUT.table("pretraining_attention"),
        log:
            LAYOUT.log("pretrain"),
        threads: STUDY.model.pretraining.threads
        resources:
            **cluster_resources("pretrain"),
        params:
            **job(
                "pretrain",
                model=format_block(STUDY.model),
                max_length=STUDY.task.max_length,
                **UNLABELLED_TEXT,
                **{name: value for name, value in RUN_SETTINGS.items() if name != "ft_seed"},
            ),
        shell:
            RUN_FRESH

    INITIAL_CHECKPOINT = [rules.pretrain.output.checkpoint]
