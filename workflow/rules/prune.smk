# One rule for each block of pruning seeds that share a pass (setting prune.together); by default every seed is a block.
for seeds in seed_blocks(STUDY):

    rule:
        name:
            f"prune_{'_'.join(map(str, seeds))}"
        input:
            checkpoint=f"{L.step}/checkpoint",
            means=rules.full_model.output.means,
            logits=rules.full_model.output.logits,
            train=rules.encode.output.train,
        output:
            subnetworks=[f"{L.step}/s{{sparsity}}/seed{seed}/subnetwork.json" for seed in seeds],
            traces=[f"{L.step}/s{{sparsity}}/seed{seed}/trace.parquet" for seed in seeds],
        log:
            L.log(f"prune/ft{{ft_seed}}-step{{step}}-s{{sparsity}}-seed{'-'.join(map(str, seeds))}"),
        conda:
            "../../envs/environment.yaml"
        params:
            prune=STUDY.prune.model_dump_json(),
            identity=IDENTITY,
            seeds=seeds,
            device=STUDY.device,
            code=SCRIPTS["prune"],
        shell:
            "fork prune --prune {params.prune:q} {params.identity} --ft-seed {wildcards.ft_seed} --step {wildcards.step}"
            " --sparsity {wildcards.sparsity} --seeds {params.seeds} --checkpoint {input.checkpoint} --means {input.means}"
            " --logits {input.logits} --train {input.train} --subnetworks {output.subnetworks} --traces {output.traces}"
            " --device {params.device} --log {log}"
