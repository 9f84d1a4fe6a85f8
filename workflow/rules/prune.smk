rule prune:
    input:
        checkpoint=f"{L.step}/checkpoint",
        means=rules.full_model.output.means,
        logits=rules.full_model.output.logits,
        train=rules.encode.output.train,
    output:
        subnetwork=f"{L.cell}/subnetwork.json",
        trace=f"{L.cell}/trace.parquet",
    log:
        L.log("prune/ft{ft_seed}-step{step}-s{sparsity}-seed{seed}"),
    conda:
        "../../envs/environment.yaml"
    params:
        prune=STUDY.prune.model_dump_json(),
        identity=IDENTITY,
        device=STUDY.device,
        code=SCRIPTS["prune"],
    shell:
        "fork prune --prune {params.prune:q} {params.identity} --ft-seed {wildcards.ft_seed} --step {wildcards.step}"
        " --sparsity {wildcards.sparsity} --seed {wildcards.seed} --checkpoint {input.checkpoint} --means {input.means}"
        " --logits {input.logits} --train {input.train} --subnetwork {output.subnetwork} --trace {output.trace} --device {params.device} --log {log}"
