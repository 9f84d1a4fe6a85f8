# A new model's pre-training. A study whose model is pretrained, such as the default one, starts from what another made.
START = []
if not STUDY.pretraining:
    ABSENT["pretrain"] = L.log("pretrain"), 0, "This study pre-trains nothing: its model block has no `pretraining`."
if STUDY.pretraining:

    rule pretrain:
        input:
            tokenizer=ancient(rules.encode.output.tokenizer),  # the same whatever is encoded with it
        output:
            checkpoint=directory(f"{L.runs}/pretraining/checkpoint"),
            trace=L.table("pretraining_trace"),
            attention=L.table("pretraining_attention"),
        log:
            L.log("pretrain"),
        threads: STUDY.model.pretraining.threads
        resources:
            **asks("pretrain"),
        params:
            **job(
                "pretrain",
                model=block(STUDY.model),
                max_length=STUDY.task.max_length,
                **{name: value for name, value in RUN.items() if name != "ft_seed"},
            ),
        shell:
            STEP

    START = [rules.pretrain.output.checkpoint]
