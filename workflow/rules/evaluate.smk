rule evaluate:
    input:
        checkpoint=f"{L.step}/checkpoint",
        means=rules.full_model.output.means,
        subnetwork=f"{L.cell}/subnetwork.json",
        evaluation=rules.encode.output.evaluation,
    output:
        predictions=f"{L.cell}/predictions.parquet",
    log:
        L.log("evaluate/ft{ft_seed}-step{step}-s{sparsity}-seed{seed}"),
    group:
        SUBNETWORKS
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks_model("evaluate"),
    params:
        **job("evaluate"),
        device=STUDY.device,
        precision=STUDY.precision,
    shell:
        recorded(
            "fork evaluate --checkpoint {input.checkpoint} --means {input.means} --subnetwork {input.subnetwork}"
            " --evaluation {input.evaluation} --predictions {output.predictions} --device {params.device} --precision {params.precision}"
        )


use rule evaluate as evaluate_again with:
    input:
        checkpoint=f"{L.step}/checkpoint",
        means=rules.full_model.output.means,
        subnetwork=f"{L.again}/subnetwork.json",
        evaluation=rules.encode.output.evaluation,
    output:
        predictions=f"{L.again}/predictions.parquet",
    log:
        L.log("evaluate/ft{ft_seed}-step{step}-s{sparsity}-seed{seed}-again"),


rule ablate:
    input:
        core=f"{L.run}/core.parquet",
        checkpoint=f"{L.run}/step{STUDY.last_checkpoint}/checkpoint",
        means=f"{L.run}/step{STUDY.last_checkpoint}/means.safetensors",
        evaluation=rules.encode.output.evaluation,
    output:
        predictions=f"{L.run}/ablation_predictions.parquet",
        sets=f"{L.run}/ablation_sets.parquet",
    log:
        L.log("ablate/ft{ft_seed}"),
    group:
        ABLATIONS
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks_model("ablate"),
    params:
        **job("ablate"),
        analysis=STUDY.analysis.model_dump_json(
            include={
                "ablation_kinds",
                "ablation_sets",
                "ablation_pairs",
                "control_draws",
                "pair_control_draws",
                "seed",
                "subsets",
            }
        ),
        step=STUDY.last_checkpoint,
        identity=IDENTITY,
        device=STUDY.device,
        precision=STUDY.precision,
    shell:
        recorded(
            "fork ablate --analysis {params.analysis:q} {params.identity} --ft-seed {wildcards.ft_seed} --step {params.step}"
            " --core {input.core} --checkpoint {input.checkpoint} --means {input.means} --evaluation {input.evaluation}"
            " --predictions {output.predictions} --sets {output.sets} --device {params.device} --precision {params.precision}"
        )


rule evaluate_controls:
    input:
        subnetworks=lambda w: [
            f"{L.run}/step{c.step}/s{c.sparsity:g}/seed{c.seed}/subnetwork.json".format(**w) for c in spread(STUDY)
        ],
        checkpoint=f"{L.run}/step{STUDY.last_checkpoint}/checkpoint",
        means=f"{L.run}/step{STUDY.last_checkpoint}/means.safetensors",
        train=rules.encode.output.train,
        evaluation=rules.encode.output.evaluation,
    output:
        predictions=f"{L.run}/control_predictions.parquet",
    log:
        L.log("evaluate_controls/ft{ft_seed}"),
    group:
        ABLATIONS
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks_model("evaluate_controls"),
    params:
        **job("evaluate_controls"),
        analysis=STUDY.analysis.model_dump_json(include={"control_pairs", "importance_pairs", "seed"}),
        step=STUDY.last_checkpoint,
        identity=IDENTITY,
        device=STUDY.device,
        precision=STUDY.precision,
    shell:
        recorded(
            "fork evaluate_controls --analysis {params.analysis:q} {params.identity} --ft-seed {wildcards.ft_seed}"
            " --step {params.step} --subnetworks {input.subnetworks} --checkpoint {input.checkpoint} --means {input.means}"
            " --train {input.train} --evaluation {input.evaluation} --predictions {output.predictions}"
            " --device {params.device} --precision {params.precision}"
        )


rule attention:
    input:
        checkpoint=f"{L.run}/step{STUDY.last_checkpoint}/checkpoint",
        tokenizer=rules.encode.output.tokenizer,
        sentences=rules.sentences.output.evaluation,
    output:
        shares=f"{L.run}/attention.parquet",
        maps=f"{L.run}/attention_maps.parquet",
    log:
        L.log("attention/ft{ft_seed}"),
    group:
        MODELS
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks_model("attention"),
    params:
        **job("attention"),
        analysis=STUDY.analysis.model_dump_json(include={"attention_pairs", "example_pairs"}),
        step=STUDY.last_checkpoint,
        max_length=STUDY.task.max_length,
        identity=IDENTITY,
        device=STUDY.device,
    shell:
        recorded(
            "fork attention --analysis {params.analysis:q} {params.identity} --ft-seed {wildcards.ft_seed} --step {params.step}"
            " --max-length {params.max_length} --checkpoint {input.checkpoint} --tokenizer {input.tokenizer} --sentences {input.sentences}"
            " --shares {output.shares} --maps {output.maps} --device {params.device}"
        )
