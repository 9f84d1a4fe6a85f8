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
    resources:
        **asks_model("evaluate"),
    params:
        **job("evaluate", **DEVICE),
    shell:
        FORK


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


# What is left of a checkpoint without any component: where CPR and CMD of its subnetworks begin.
rule empty_circuit:
    input:
        checkpoint=f"{L.step}/checkpoint",
        means=rules.full_model.output.means,
        evaluation=rules.encode.output.evaluation,
    output:
        empty_circuit=f"{L.step}/empty_circuit.parquet",
    log:
        L.log("empty_circuit/ft{ft_seed}-step{step}"),
    group:
        SUBNETWORKS
    resources:
        **asks_model("evaluate"),
    params:
        **job(
            "empty_circuit",
            analysis=block(STUDY.analysis, {"class_rule", "seed"}),
            **RUN,
            step=lambda w: w.step,
            **DEVICE,
        ),
    shell:
        FORK


# The last checkpoint of a fine-tuning run, and what an intervention on it reads besides.
LAST = f"{L.run}/step{STUDY.last_checkpoint}"
AT_LAST = {
    "checkpoint": f"{LAST}/checkpoint",
    "means": f"{LAST}/means.safetensors",
    "evaluation": rules.encode.output.evaluation,
}
MINIMAL = rules.minimal_pairs.output.minimal


rule ablate:
    input:
        ancient(LEARNED),
        **AT_LAST,
        **({"minimal": MINIMAL} if COUNTERFACTUAL in STUDY.analysis.ablation_kinds else {}),
        core=L.core,
        train=rules.encode.output.train,
    output:
        predictions=f"{L.run}/ablation_predictions.parquet",
        sets=f"{L.run}/ablation_sets.parquet",
    log:
        L.log("ablate/ft{ft_seed}"),
    group:
        ABLATIONS
    resources:
        **asks_model("ablate"),
    params:
        **at_last(
            "ablate",
            analysis=block(
                STUDY.analysis,
                {
                    "ablation_kinds",
                    "ablation_sets",
                    "ablation_pairs",
                    "control_draws",
                    "pair_control_draws",
                    "resample_draws",
                    "seed",
                    "subsets",
                },
            ),
            **DEVICE,
        ),
    shell:
        FORK


rule evaluate_controls:
    input:
        ancient(LEARNED),
        **AT_LAST,
        subnetworks=[f"{folder}/subnetwork.json" for folder in folders(spread(STUDY))],
        train=rules.encode.output.train,
    output:
        predictions=f"{L.run}/control_predictions.parquet",
    log:
        L.log("evaluate_controls/ft{ft_seed}"),
    group:
        ABLATIONS
    resources:
        **asks_model("evaluate_controls"),
    params:
        **at_last(
            "evaluate_controls",
            analysis=block(STUDY.analysis, {"control_pairs", "importance_pairs", "seed"}),
            **DEVICE,
        ),
    shell:
        FORK


rule attention:
    input:
        checkpoint=AT_LAST["checkpoint"],
        tokenizer=rules.encode.output.tokenizer,
        sentences=rules.sentences.output.evaluation,
    output:
        shares=f"{L.run}/attention.parquet",
        maps=f"{L.run}/attention_maps.parquet",
    log:
        L.log("attention/ft{ft_seed}"),
    group:
        MODELS
    resources:
        **asks_model("attention"),
    params:
        **at_last(
            "attention",
            analysis=block(STUDY.analysis, {"attention_pairs", "example_pairs", "seed"}),
            max_length=STUDY.task.max_length,
            device=STUDY.device,
        ),
    shell:
        FORK
