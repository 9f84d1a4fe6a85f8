# A new model's pre-training. A study whose model is pretrained, such as the default one, starts from what another made.
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
        conda:
            "../../envs/environment.yaml"
        threads: STUDY.model.pretraining.threads
        resources:
            **asks("pretrain"),
        params:
            **job("pretrain"),
            model=STUDY.model.model_dump_json(),
            max_length=STUDY.task.max_length,
            identity=IDENTITY,
        shell:
            recorded(
                "step pretrain --model {params.model:q} {params.identity} --max-length {params.max_length}"
                " --tokenizer {input.tokenizer} --checkpoint {output.checkpoint} --trace {output.trace} --attention {output.attention}"
            )

    START = [rules.pretrain.output.checkpoint]

else:

    START = []

    rule pretrain:
        log:
            L.log("pretrain"),
        localrule: True
        conda:
            "../../envs/environment.yaml"
        shell:
            "echo 'This study pre-trains nothing: its model block has no `pretraining`.' | tee {log}"


# The option that tells a script where a model starts that was pre-trained here.
STARTING_FROM = given("pretrained", *(START or [None]))
