# What depends on the core: interventions on the last checkpoint of every fine-tuning run. A study has those parts of the
# block `mechanism` that it names; each part writes its tables below {L.run}/mechanism, see MECHANISM in tables.smk.
LAST = f"{L.run}/step{STUDY.last_checkpoint}"
AT_LAST = {
    "checkpoint": f"{LAST}/checkpoint",
    "means": f"{LAST}/means.safetensors",
    "evaluation": rules.encode.output.evaluation,
}

# The mid-sparsity subnetworks of the last checkpoint whose pruning went well. Table "runs" would say the same, but it is
# of all sparsities, and with another one of the grid models would run again.
MID = [f"{L.run}/step{c.step}/s{c.sparsity:g}/seed{c.seed}" for c in spread(STUDY) if c.sparsity == STUDY.grid.mid]
SOUND = f"{L.run}/mechanism/sound_subnetworks.parquet"

if STUDY.mechanism.masks or STUDY.mechanism.interpolation or STUDY.mechanism.core_free:

    rule sound_subnetworks:
        input:
            full=f"{LAST}/predictions.parquet",
            subnetworks=[f"{folder}/subnetwork.json" for folder in MID],
            pruned=[f"{folder}/predictions.parquet" for folder in MID],
            trace_parts=[f"{folder}/trace.parquet" for folder in MID],
        output:
            components=SOUND,
        log:
            L.log("mechanism/sound_subnetworks-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **(asks("core") | AT_GPU),  # goes where `masks` goes
        params:
            **job("sound_subnetworks", analysis=SCORING, controller=STUDY.prune.controller),
        shell:
            FORK


if STUDY.mechanism.masks:
    # Intervals are of what masks score, not of models: they make no model run again.
    DRAWN_MASKS = STUDY.mechanism.masks.model_copy(update={"bootstrap": 1})
    DRAWN = STUDY.mechanism.model_copy(update={"masks": DRAWN_MASKS})

    rule masks:
        input:
            **AT_LAST,
            core=f"{L.run}/core.parquet",
            components=SOUND,
        output:
            masks=f"{L.run}/mechanism/random_masks.parquet",
        log:
            L.log("mechanism/masks-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("masks"),
        params:
            **at_last(
                "masks",
                mechanism=block(DRAWN, {"masks"}),
                analysis=block(STUDY.analysis, {"class_rule", "seed", "subsets"}),
            ),
        shell:
            FORK

    rule counter_heads:
        input:
            masks=rules.masks.output.masks,
            components=SOUND,
        output:
            counter_heads=f"{L.run}/mechanism/counter_heads.parquet",
            mask_fit=f"{L.run}/mechanism/mask_fit.parquet",
            mask_tests=f"{L.run}/mechanism/mask_tests.parquet",
        log:
            L.log("mechanism/counter_heads-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **(asks("core") | AT_GPU),
        params:
            **job(
                "counter_heads",
                mechanism=block(STUDY.mechanism, {"masks"}),
                analysis=block(STUDY.analysis, {"seed", "subsets"}),
                **RUN,
                step=STUDY.last_checkpoint,
            ),
        shell:
            FORK


if STUDY.mechanism.interpolation:

    rule interpolation:
        input:
            **AT_LAST,
            components=SOUND,
        output:
            table=f"{L.run}/mechanism/interpolation.parquet",
        log:
            L.log("mechanism/interpolation-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("interpolation"),
        params:
            **at_last("interpolation"),
        shell:
            FORK


if STUDY.mechanism.mediation:

    rule mediation:
        input:
            **AT_LAST,
            core=f"{L.run}/core.parquet",
            counter_heads=f"{L.run}/mechanism/counter_heads.parquet" if STUDY.mechanism.masks else [],
        output:
            mediation=f"{L.run}/mechanism/mediation.parquet",
        log:
            L.log("mediation/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("mediation"),
        params:
            **at_last(
                "mediation",
                **({"mechanism": block(DRAWN, {"mediation", "masks"})} if STUDY.mechanism.masks else {}),
            ),
        shell:
            FORK


if STUDY.mechanism.paths:

    rule paths:
        input:
            **AT_LAST,
            core=f"{L.run}/core.parquet",
        output:
            paths=f"{L.run}/mechanism/paths.parquet",
        log:
            L.log("paths/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("paths"),
        params:
            **at_last("paths"),
        shell:
            FORK
