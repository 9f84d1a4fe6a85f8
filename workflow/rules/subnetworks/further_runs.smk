# Parts of the block `mechanism` with further pruning runs, or with subnetworks moved between checkpoints.
PRUNING_INPUTS = {
    **{name: LAST_CHECKPOINT_INPUTS[name] for name in ("checkpoint", "means")},
    "logits": f"{LAST_CHECKPOINT_DIR}/logits.safetensors",
    "train": rules.encode.output.train,
}
CLOSED_BLOCKS = closed_blocks(STUDY)
for number, runs in enumerate(CLOSED_BLOCKS):

    rule:
        name:
            f"prune_closed_{number}"
        input:
            **PRUNING_INPUTS,
            core=LAYOUT.core,
        output:
            subnetworks=[f"{folder}/subnetwork.json" for folder in cell_dirs(runs, LAYOUT.closed_run)],
            traces=[f"{folder}/trace.parquet" for folder in cell_dirs(runs, LAYOUT.closed_run)],
        log:
            LAYOUT.log(f"prune_closed/ft{{ft_seed}}-{number}"),
        group:
            ABLATIONS
        resources:
            **model_resources("prune"),
        params:
            **last_checkpoint_params(
                "prune_closed",
                prune=format_block(STUDY.prune),
                sparsity=STUDY.grid.mid,
                sets=[run.set for run in runs],
                seeds=[run.seed for run in runs],
                control_sets=STUDY.mechanism.core_free.control_sets,
                draw_seed=STUDY.analysis.seed,
                device=STUDY.device,
            ),
        shell:
            RUN_FORKED


if STUDY.mechanism.core_free:

    rule core_free:
        input:
            **LAST_CHECKPOINT_INPUTS,
            core=LAYOUT.core,
            subnetworks=[
                f"{folder}/subnetwork.json" for runs in CLOSED_BLOCKS for folder in cell_dirs(runs, LAYOUT.closed_run)
            ],
            trace_parts=[
                f"{folder}/trace.parquet" for runs in CLOSED_BLOCKS for folder in cell_dirs(runs, LAYOUT.closed_run)
            ],
            mid=[f"{folder}/predictions.parquet" for folder in MID_CELL_DIRS],
            components=SOUND_COMPONENTS,
        output:
            core_free_runs=LAYOUT.mechanism("core_free_runs"),
            core_free=LAYOUT.mechanism("core_free"),
        log:
            LAYOUT.log("core_free/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **model_resources("core_free"),
        params:
            **mechanism_params(
                "core_free",
                format_block(STUDY.analysis, {"subsets", "class_rule", "bootstrap", "seed", "margin"}),
                sparsity=STUDY.grid.mid,
                controller=STUDY.prune.controller,
            ),
        shell:
            RUN_FORKED

    rule packing:
        input:
            **PRUNING_INPUTS,
            evaluation=rules.encode.output.evaluation,
            first=f"{LAST_CHECKPOINT_DIR}/s{STUDY.grid.high:g}/seed{STUDY.grid.seeds[0]}/subnetwork.json",
        output:
            packing=LAYOUT.mechanism("packing"),
        log:
            LAYOUT.log("packing/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **model_resources("packing"),
        params:
            **last_checkpoint_params(
                "packing",
                prune=format_block(STUDY.prune),
                mechanism=format_block(STUDY.mechanism, {"core_free"}),
                analysis=format_block(STUDY.analysis, {"subsets", "class_rule", "seed"}),
                sparsity=STUDY.grid.high,
                **DEVICE_SETTINGS,
            ),
        shell:
            RUN_FORKED


if STUDY.mechanism.transplant:

    rule transplant:
        input:
            checkpoints=[f"{LAYOUT.run}/step{step}/checkpoint" for step in STUDY.grid.checkpoints],
            means=[f"{LAYOUT.run}/step{step}/means.safetensors" for step in STUDY.grid.checkpoints],
            subnetworks=[
                f"{folder}/subnetwork.json"
                for folder in cell_dirs(c for c in curve_cells(STUDY) if c.sparsity == STUDY.grid.mid)
            ],
            evaluation=rules.encode.output.evaluation,
        output:
            transplant=LAYOUT.mechanism("transplant"),
        log:
            LAYOUT.log("transplant/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **model_resources("transplant"),
        params:
            **job(
                "transplant",
                mechanism=format_block(STUDY.mechanism, {"transplant"}),
                analysis=format_block(STUDY.analysis, {"subsets", "class_rule", "seed"}),
                **RUN_SETTINGS,
                sparsity=STUDY.grid.mid,
                steps=STUDY.grid.checkpoints,
                **DEVICE_SETTINGS,
            ),
        shell:
            RUN_FORKED


if STUDY.mechanism.entry:

    rule entry:
        input:
            components=[f"{LAYOUT.run}/step{step}/components.parquet" for step in STUDY.mechanism.entry.checkpoints],
            pruned=[f"{LAYOUT.run}/step{step}/runs.parquet" for step in STUDY.mechanism.entry.checkpoints],
            core=LAYOUT.core,
            finetuning=f"{LAYOUT.run}/accuracy.parquet",
            counter_heads=LAYOUT.mechanism("counter_heads") if STUDY.mechanism.masks else [],
        output:
            entry_frequency=LAYOUT.mechanism("entry_frequency"),
            entry=LAYOUT.mechanism("entry"),
        log:
            LAYOUT.log("entry/ft{ft_seed}"),
        group:
            "tables"
        params:
            **job("entry", context=select_context("entry", "entry_seeds", "subsets")),
        shell:
            RUN_FORKED
