# One rule per block of pruning runs that share a pass (setting prune.together; by default one run per block), and one
# rule for repeated runs, which share no pass.
BLOCKS = [(number, runs, cell_dirs(runs), 0) for number, runs in enumerate(run_blocks(STUDY))]
BLOCKS += [("again", [Run("{sparsity}", "{seed}")], [LAYOUT.repeated_cell], 1)]

for block, runs, cell_folders, repeat in BLOCKS:

    rule:
        name:
            f"prune_{block}"
        input:
            ancient(LEARNED),
            checkpoint=f"{LAYOUT.step}/checkpoint",
            means=rules.full_model.output.means,
            logits=rules.full_model.output.logits,
            train=rules.encode.output.train,
        output:
            subnetworks=[f"{folder}/subnetwork.json" for folder in cell_folders],
            traces=[f"{folder}/trace.parquet" for folder in cell_folders],
        log:
            block_log("prune", runs, repeat),
        priority: first_steps_first
        group:
            SUBNETWORKS
        resources:
            **model_resources("prune"),
        params:
            **job(
                "prune",
                prune=format_block(STUDY.prune),
                **RUN_SETTINGS,
                step=lambda w: w.step,
                sparsities=(lambda w: [w.sparsity]) if repeat else [run.sparsity for run in runs],
                seeds=(lambda w: [w.seed]) if repeat else [run.seed for run in runs],
                repeat=repeat,
                device=STUDY.device,
            ),
        shell:
            RUN_FORKED
