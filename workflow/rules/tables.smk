# From the results of single jobs to the tidy tables of the study, and from these to findings.
rule gather:
    input:
        full=f"{L.step}/predictions.parquet",
        predictions=lambda w: [
            f"{L.step}/s{c.sparsity:g}/seed{c.seed}/predictions.parquet".format(**w)
            for c in CELLS
            if c.step == int(w.step)
        ],
        subnetworks=lambda w: [
            f"{L.step}/s{c.sparsity:g}/seed{c.seed}/subnetwork.json".format(**w)
            for c in CELLS
            if c.step == int(w.step)
        ],
    output:
        predictions=f"{L.root}/tables/predictions/ft{{ft_seed}}-step{{step}}.parquet",
        accuracy=f"{L.step}/accuracy.parquet",
        components=f"{L.step}/components.parquet",
        traces=f"{L.step}/prune_trace.parquet",
    log:
        L.log("gather/ft{ft_seed}-step{step}"),
    conda:
        "../../envs/environment.yaml"
    params:
        cells=lambda w, input: [os.path.dirname(path) for path in input.subnetworks],
        code=SCRIPTS["gather"],
    shell:
        "fork gather --full {input.full} --cells {params.cells} --predictions {output.predictions}"
        " --accuracy {output.accuracy} --components {output.components} --traces {output.traces} --log {log}"


PARTS = {
    name: expand(f"{L.step}/{name}.parquet", ft_seed=STUDY.finetune.seeds, step=STUDY.finetune.checkpoints)
    for name in ("accuracy", "components", "prune_trace")
} | {
    name: expand(f"{L.run}/{file}.parquet", ft_seed=STUDY.finetune.seeds)
    for name, file in {
        "finetune_trace": "trace",
        "finetune_accuracy": "accuracy",
        "attention": "attention",
        "ablation_sets": "ablation_sets",
        "ablation_predictions": "ablation_predictions",
    }.items()
}


rule concatenate:
    input:
        lambda w: PARTS[w.table],
    output:
        f"{L.root}/tables/{{table}}.parquet",
    log:
        L.log("tables/{table}"),
    wildcard_constraints:
        table="|".join(PARTS),
    conda:
        "../../envs/environment.yaml"
    params:
        code=SCRIPTS["concatenate"],
    shell:
        "fork concatenate --name {wildcards.table} --parts {input} --table {output} --log {log}"


rule effective_size:
    input:
        accuracy=L.table("accuracy"),
    output:
        L.table("effective_size"),
    log:
        L.log("tables/effective_size"),
    conda:
        "../../envs/environment.yaml"
    params:
        analysis=STUDY.analysis.model_dump_json(include={"margin", "subsets"}),
        seeds=STUDY.grid.curve_seeds,
        code=SCRIPTS["effective_size"],
    shell:
        "fork effective_size --analysis {params.analysis:q} --seeds {params.seeds}"
        " --accuracy {input.accuracy} --table {output} --log {log}"


rule core:
    input:
        components=L.table("components"),
    output:
        head_frequency=L.table("head_frequency"),
        core=L.table("core"),
        core_null=L.table("core_null"),
        rank_correlation=L.table("rank_correlation"),
    log:
        L.log("tables/core"),
    conda:
        "../../envs/environment.yaml"
    params:
        analysis=STUDY.analysis.model_dump_json(include={"permutations", "seed"}),
        context=CONTEXT.model_dump_json(),
        code=SCRIPTS["core"],
    shell:
        "fork core --analysis {params.analysis:q} --context {params.context:q} --components {input.components}"
        " --head-frequency {output.head_frequency} --core {output.core} --core-null {output.core_null}"
        " --rank-correlation {output.rank_correlation} --log {log}"


rule ablations:
    input:
        predictions=L.table("ablation_predictions"),
        sets=L.table("ablation_sets"),
    output:
        L.table("ablations"),
    log:
        L.log("tables/ablations"),
    conda:
        "../../envs/environment.yaml"
    params:
        analysis=STUDY.analysis.model_dump_json(include={"subsets", "seed"}),
        code=SCRIPTS["ablations"],
    shell:
        "fork ablations --analysis {params.analysis:q} --predictions {input.predictions} --sets {input.sets}"
        " --table {output} --log {log}"


rule findings:
    input:
        [
            L.table(name)
            for name in (
                "accuracy",
                "finetune_accuracy",
                "core",
                "core_null",
                "rank_correlation",
                "effective_size",
                "ablations",
            )
        ],
    output:
        table=L.table("findings"),
    log:
        L.log("tables/findings"),
    conda:
        "../../envs/environment.yaml"
    params:
        context=CONTEXT.model_dump_json(),
        code=SCRIPTS["findings"],
    shell:
        "fork findings --context {params.context:q} --tables {input} --table {output.table} --log {log}"
