rule prune:
    input:
        checkpoint=f"{L.step}/checkpoint",
        means=rules.full_model.output.means,
        logits=rules.full_model.output.logits,
        train=rules.encode.output.train,
    output:
        subnetwork=f"{L.cell}/subnetwork.json",
        trace=f"{L.cell}/trace.parquet",
    params:
        prune=STUDY.prune.model_dump_json(),
        code=SCRIPTS["prune"],
    log:
        L.log("prune/ft{ft_seed}-step{step}-s{sparsity}-seed{seed}"),
    conda:
        "../../envs/environment.yaml"
    shell:
        "{WARM}/prune.py --prune {params.prune:q} {IDENTITY} --ft-seed {wildcards.ft_seed} --step {wildcards.step}"
        " --sparsity {wildcards.sparsity} --seed {wildcards.seed} --checkpoint {input.checkpoint} --means {input.means}"
        " --logits {input.logits} --train {input.train} --subnetwork {output.subnetwork} --trace {output.trace} --log {log}"
