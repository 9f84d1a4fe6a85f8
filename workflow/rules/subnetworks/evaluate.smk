# One rule per block of runs, as for pruning.
for block, runs, cell_folders, repeat in BLOCKS:

    rule:
        name:
            f"evaluate_{block}"
        input:
            checkpoint=f"{LAYOUT.step}/checkpoint",
            means=rules.full_model.output.means,
            subnetworks=[f"{folder}/subnetwork.json" for folder in cell_folders],
            evaluation=rules.encode.output.evaluation,
        output:
            predictions=[f"{folder}/predictions.parquet" for folder in cell_folders],
        log:
            block_log("evaluate", runs, repeat),
        priority: first_steps_first
        group:
            SUBNETWORKS
        resources:
            **model_resources("evaluate"),
        params:
            **job("evaluate", **DEVICE_SETTINGS),
        shell:
            RUN_FORKED


# A checkpoint with every component ablated: the lower end of CPR and CMD.
rule empty_circuit:
    input:
        checkpoint=f"{LAYOUT.step}/checkpoint",
        means=rules.full_model.output.means,
        evaluation=rules.encode.output.evaluation,
    output:
        empty_circuit=f"{LAYOUT.step}/empty_circuit.parquet",
    log:
        LAYOUT.log("empty_circuit/ft{ft_seed}-step{step}"),
    group:
        SUBNETWORKS
    resources:
        **model_resources("evaluate"),
    params:
        **job(
            "empty_circuit",
            analysis=format_block(STUDY.analysis, {"class_rule", "seed"}),
            **RUN_SETTINGS,
            step=lambda w: w.step,
            **DEVICE_SETTINGS,
        ),
    shell:
        RUN_FORKED


# The last checkpoint of a fine-tuning run, and the other inputs of interventions on it.
LAST_CHECKPOINT_DIR = f"{LAYOUT.run}/step{STUDY.last_checkpoint}"
LAST_CHECKPOINT_INPUTS = {
    "checkpoint": f"{LAST_CHECKPOINT_DIR}/checkpoint",
    "means": f"{LAST_CHECKPOINT_DIR}/means.safetensors",
    "evaluation": rules.encode.output.evaluation,
}
MINIMAL_PAIRS = rules.minimal_pairs.output.minimal


rule ablate:
    input:
        ancient(LEARNED),
        **LAST_CHECKPOINT_INPUTS,
        **({"minimal": MINIMAL_PAIRS} if COUNTERFACTUAL in STUDY.analysis.ablation_kinds else {}),
        core=LAYOUT.core,
        train=rules.encode.output.train,
    output:
        predictions=f"{LAYOUT.run}/ablation_predictions.parquet",
        sets=f"{LAYOUT.run}/ablation_sets.parquet",
    log:
        LAYOUT.log("ablate/ft{ft_seed}"),
    priority: 2  # a long job
    group:
        ABLATIONS
    resources:
        **model_resources("ablate"),
    params:
        **last_checkpoint_params(
            "ablate",
            analysis=format_block(
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
            **DEVICE_SETTINGS,
        ),
    shell:
        RUN_FORKED


rule evaluate_controls:
    input:
        ancient(LEARNED),
        **LAST_CHECKPOINT_INPUTS,
        subnetworks=[f"{folder}/subnetwork.json" for folder in cell_dirs(spread_cells(STUDY))],
        train=rules.encode.output.train,
    output:
        predictions=f"{LAYOUT.run}/control_predictions.parquet",
    log:
        LAYOUT.log("evaluate_controls/ft{ft_seed}"),
    group:
        ABLATIONS
    resources:
        **model_resources("evaluate_controls"),
    params:
        **last_checkpoint_params(
            "evaluate_controls",
            analysis=format_block(STUDY.analysis, {"control_pairs", "importance_pairs", "seed"}),
            **DEVICE_SETTINGS,
        ),
    shell:
        RUN_FORKED


rule attention:
    input:
        checkpoint=LAST_CHECKPOINT_INPUTS["checkpoint"],
        tokenizer=rules.encode.output.tokenizer,
        sentences=rules.sentences.output.evaluation,
    output:
        shares=f"{LAYOUT.run}/attention.parquet",
        maps=f"{LAYOUT.run}/attention_maps.parquet",
    log:
        LAYOUT.log("attention/ft{ft_seed}"),
    priority: 2  # two figures need nothing else
    group:
        MODELS
    resources:
        **model_resources("attention"),
    params:
        **last_checkpoint_params(
            "attention",
            analysis=format_block(STUDY.analysis, {"attention_pairs", "example_pairs", "seed"}),
            max_length=STUDY.task.max_length,
            device=STUDY.device,
        ),
    shell:
        RUN_FORKED
