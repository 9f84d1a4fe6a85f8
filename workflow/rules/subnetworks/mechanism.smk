# Interventions that depend on the core (parts of the block `mechanism`), on the last checkpoint of every fine-tuning run.
# Each part writes its tables to {LAYOUT.run}/mechanism.

# Sound mid-sparsity subnetworks of the last checkpoint. Table "runs" covers all sparsities: as an input, it would rerun
# models whenever a sparsity is added to the grid.
MID_CELL_DIRS = cell_dirs(c for c in spread_cells(STUDY) if c.sparsity == STUDY.grid.mid)
SOUND_COMPONENTS = LAYOUT.mechanism("sound_subnetworks")

if STUDY.mechanism.masks or STUDY.mechanism.interpolation or STUDY.mechanism.core_free:

    rule sound_subnetworks:
        input:
            full=f"{LAST_CHECKPOINT_DIR}/predictions.parquet",
            subnetworks=[f"{folder}/subnetwork.json" for folder in MID_CELL_DIRS],
            pruned=[f"{folder}/predictions.parquet" for folder in MID_CELL_DIRS],
            trace_parts=[f"{folder}/trace.parquet" for folder in MID_CELL_DIRS],
        output:
            components=SOUND_COMPONENTS,
        log:
            LAYOUT.log("mechanism/sound_subnetworks-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **(cluster_resources("core") | GPU_RESOURCES),  # submitted where `masks` is
        params:
            **job("sound_subnetworks", analysis=SCORING, controller=STUDY.prune.controller),
        shell:
            RUN_FORKED


if STUDY.mechanism.masks:
    # The number of bootstrap resamples affects intervals, not model runs: changing it reruns no model.
    ONE_RESAMPLE = STUDY.mechanism.masks.model_copy(update={"bootstrap": 1})
    WITHOUT_INTERVALS = STUDY.mechanism.model_copy(update={"masks": ONE_RESAMPLE})

    rule masks:
        input:
            **LAST_CHECKPOINT_INPUTS,
            core=LAYOUT.core,
            components=SOUND_COMPONENTS,
        output:
            masks=LAYOUT.mechanism("random_masks"),
        log:
            LAYOUT.log("mechanism/masks-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **model_resources("masks"),
        params:
            **mechanism_params(
                "masks",
                mechanism=format_block(WITHOUT_INTERVALS, {"masks"}),
                analysis=format_block(STUDY.analysis, {"class_rule", "seed", "subsets"}),
            ),
        shell:
            RUN_FORKED

    rule counter_heads:
        input:
            masks=rules.masks.output.masks,
            components=SOUND_COMPONENTS,
        output:
            counter_heads=LAYOUT.mechanism("counter_heads"),
            mask_fit=LAYOUT.mechanism("mask_fit"),
            mask_tests=LAYOUT.mechanism("mask_tests"),
        log:
            LAYOUT.log("mechanism/counter_heads-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **(cluster_resources("core") | GPU_RESOURCES),
        params:
            **last_checkpoint_params(
                "counter_heads",
                mechanism=format_block(STUDY.mechanism, {"masks"}),
                analysis=format_block(STUDY.analysis, {"seed", "subsets"}),
            ),
        shell:
            RUN_FORKED


if STUDY.mechanism.interpolation:

    rule interpolation:
        input:
            **LAST_CHECKPOINT_INPUTS,
            components=SOUND_COMPONENTS,
        output:
            table=LAYOUT.mechanism("interpolation"),
        log:
            LAYOUT.log("mechanism/interpolation-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **model_resources("interpolation"),
        params:
            **mechanism_params("interpolation"),
        shell:
            RUN_FORKED


if STUDY.mechanism.mediation:

    rule mediation:
        input:
            **LAST_CHECKPOINT_INPUTS,
            core=LAYOUT.core,
            counter_heads=LAYOUT.mechanism("counter_heads") if STUDY.mechanism.masks else [],
        output:
            mediation=LAYOUT.mechanism("mediation"),
        log:
            LAYOUT.log("mediation/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **model_resources("mediation"),
        params:
            **mechanism_params(
                "mediation",
                **(
                    {"mechanism": format_block(WITHOUT_INTERVALS, {"mediation", "masks"})}
                    if STUDY.mechanism.masks
                    else {}
                ),
            ),
        shell:
            RUN_FORKED


if STUDY.mechanism.paths:

    rule paths:
        input:
            **LAST_CHECKPOINT_INPUTS,
            **(
                {"minimal": MINIMAL_PAIRS}
                if STUDY.task.source == "generated" and STUDY.task.sentence_count == 2
                else {}
            ),
            core=LAYOUT.core,
        output:
            paths=LAYOUT.mechanism("paths"),
        log:
            LAYOUT.log("paths/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **model_resources("paths"),
        params:
            **mechanism_params("paths"),
        shell:
            RUN_FORKED
