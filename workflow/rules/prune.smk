# One rule for each block of pruning seeds that share a pass (setting prune.together; by default every seed is a block),
# and one for runs that are repeated, each by itself.
BLOCKS = [
    (f"prune_{'_'.join(map(str, seeds))}", seeds, [f"{L.step}/s{{sparsity}}/seed{seed}" for seed in seeds], 0)
    for seeds in seed_blocks(STUDY)
] + [("prune_again", ["{seed}"], [L.again], 1)]
for name, seeds, folders, repeat in BLOCKS:

    rule:
        name:
            name
        input:
            checkpoint=f"{L.step}/checkpoint",
            means=rules.full_model.output.means,
            logits=rules.full_model.output.logits,
            train=rules.encode.output.train,
        output:
            subnetworks=[f"{folder}/subnetwork.json" for folder in folders],
            traces=[f"{folder}/trace.parquet" for folder in folders],
        log:
            L.log(f"prune/ft{{ft_seed}}-step{{step}}-s{{sparsity}}-seed{'-'.join(map(str, seeds))}" + "-again" * repeat),
        group:
            SUBNETWORKS
        conda:
            "../../envs/environment.yaml"
        resources:
            **asks_model("prune"),
        params:
            **job("prune"),
            prune=STUDY.prune.model_dump_json(),
            identity=IDENTITY,
            seeds=lambda w, seeds=seeds: [str(seed).format(**w) for seed in seeds],
            repeat=repeat,
            device=STUDY.device,
        shell:
            recorded(
                "fork prune --prune {params.prune:q} {params.identity} --ft-seed {wildcards.ft_seed} --step {wildcards.step}"
                " --sparsity {wildcards.sparsity} --seeds {params.seeds} --repeat {params.repeat} --checkpoint {input.checkpoint} --means {input.means}"
                " --logits {input.logits} --train {input.train} --subnetworks {output.subnetworks} --traces {output.traces}"
                " --device {params.device}"
            )
