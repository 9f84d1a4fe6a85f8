# One rule per block of pruning seeds that share a pass (setting prune.together; by default one seed per block), and one
# rule for repeated runs, which share no pass.
BLOCKS = [
    ("_".join(map(str, seeds)), seeds, [f"{LAYOUT.step}/s{{sparsity}}/seed{seed}" for seed in seeds], 0)
    for seeds in seed_blocks(STUDY)
] + [("again", ["{seed}"], [LAYOUT.repeated_cell], 1)]

for block, seeds, cell_folders, repeat in BLOCKS:

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
            block_log("prune", seeds, repeat),
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
                sparsity=lambda w: w.sparsity,
                seeds=(lambda w: [w.seed]) if repeat else seeds,
                repeat=repeat,
                device=STUDY.device,
            ),
        shell:
            RUN_FORKED
