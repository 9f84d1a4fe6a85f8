# What depends on the core: interventions on the last checkpoint of every fine-tuning run. A study has those parts of the
# block `mechanism` that it names; each part writes its tables below {L.run}/mechanism, see MECHANISM in tables.smk.
# The mid-sparsity subnetworks of the last checkpoint whose pruning went well. Table "runs" would say the same, but it is
# of all sparsities, and with another one of the grid models would run again.
MID = folders(c for c in spread(STUDY) if c.sparsity == STUDY.grid.mid)
SOUND = L.mechanism("sound_subnetworks")

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
    ONE_RESAMPLE = STUDY.mechanism.masks.model_copy(update={"bootstrap": 1})
    WITHOUT_INTERVALS = STUDY.mechanism.model_copy(update={"masks": ONE_RESAMPLE})

    rule masks:
        input:
            **AT_LAST,
            core=L.core,
            components=SOUND,
        output:
            masks=L.mechanism("random_masks"),
        log:
            L.log("mechanism/masks-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("masks"),
        params:
            **mechanism(
                "masks",
                mechanism=block(WITHOUT_INTERVALS, {"masks"}),
                analysis=block(STUDY.analysis, {"class_rule", "seed", "subsets"}),
            ),
        shell:
            FORK

    rule counter_heads:
        input:
            masks=rules.masks.output.masks,
            components=SOUND,
        output:
            counter_heads=L.mechanism("counter_heads"),
            mask_fit=L.mechanism("mask_fit"),
            mask_tests=L.mechanism("mask_tests"),
        log:
            L.log("mechanism/counter_heads-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **(asks("core") | AT_GPU),
        params:
            **at_last(
                "counter_heads",
                mechanism=block(STUDY.mechanism, {"masks"}),
                analysis=block(STUDY.analysis, {"seed", "subsets"}),
            ),
        shell:
            FORK


if STUDY.mechanism.interpolation:

    rule interpolation:
        input:
            **AT_LAST,
            components=SOUND,
        output:
            table=L.mechanism("interpolation"),
        log:
            L.log("mechanism/interpolation-ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("interpolation"),
        params:
            **mechanism("interpolation"),
        shell:
            FORK


if STUDY.mechanism.mediation:

    rule mediation:
        input:
            **AT_LAST,
            core=L.core,
            counter_heads=L.mechanism("counter_heads") if STUDY.mechanism.masks else [],
        output:
            mediation=L.mechanism("mediation"),
        log:
            L.log("mediation/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("mediation"),
        params:
            **mechanism(
                "mediation",
                **({"mechanism": block(WITHOUT_INTERVALS, {"mediation", "masks"})} if STUDY.mechanism.masks else {}),
            ),
        shell:
            FORK


if STUDY.mechanism.paths:

    rule paths:
        input:
            **AT_LAST,
            **({"minimal": MINIMAL} if STUDY.task.source == "generated" else {}),
            core=L.core,
        output:
            paths=L.mechanism("paths"),
        log:
            L.log("paths/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("paths"),
        params:
            **mechanism("paths"),
        shell:
            FORK
