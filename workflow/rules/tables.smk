# From the results of single jobs to the tidy tables of the study, and from these to findings.
rule gather:
    input:
        full=f"{L.step}/predictions.parquet",
        predictions=lambda w: [f"{folder}/predictions.parquet" for folder in folders_of(w)],
        subnetworks=lambda w: [f"{folder}/subnetwork.json" for folder in folders_of(w)],
        traces=lambda w: [f"{folder}/trace.parquet" for folder in folders_of(w)],
    output:
        predictions=f"{L.root}/tables/predictions/ft{{ft_seed}}-step{{step}}.parquet",
        accuracy=f"{L.step}/accuracy.parquet",
        group_accuracy=f"{L.step}/group_accuracy.parquet",
        components=f"{L.step}/components.parquet",
        traces=f"{L.step}/prune_trace.parquet",
        runs=f"{L.step}/runs.parquet",
    log:
        L.log("gather/ft{ft_seed}-step{step}"),
    group:
        "tables"
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks("gather"),
    params:
        **job("gather"),
        cells=lambda w, input: [os.path.dirname(path) for path in input.subnetworks],
        analysis=SCORING,
        controller=STUDY.prune.controller,
    shell:
        recorded(
            "fork gather --analysis {params.analysis:q} --full {input.full} --cells {params.cells} --predictions {output.predictions}"
            " --accuracy {output.accuracy} --group-accuracy {output.group_accuracy} --components {output.components} --traces {output.traces}"
            " --runs {output.runs} --controller {params.controller}"
        )


# The heads that subnetworks share depend on the spread and the early ones alone: another sparsity reruns no ablation.
rule core:
    input:
        lambda w: [
            f"{L.run}/step{c.step}/s{c.sparsity:g}/seed{c.seed}/subnetwork.json".format(**w)
            for c in sorted({*spread(STUDY), *early(STUDY)})
        ],
    output:
        core=f"{L.run}/core.parquet",
        core_null=f"{L.run}/core_null.parquet",
    log:
        L.log("core/ft{ft_seed}"),
    group:
        ABLATIONS
    conda:
        "../../envs/environment.yaml"
    resources:
        **(asks("core") | AT_GPU),  # goes where `ablate` goes
    params:
        **job("core"),
        analysis=STUDY.analysis.model_dump_json(include={"permutations", "seed"}),
        context=CONTEXT.model_dump_json(include={"mid", "high", "last", "seeds", "early", "early_seeds"}),
    shell:
        recorded(
            "fork core --analysis {params.analysis:q} --context {params.context:q} --subnetworks {input}"
            " --core {output.core} --core-null {output.core_null}"
        )


PARTS = {
    name: expand(f"{L.step}/{name}.parquet", ft_seed=STUDY.finetune.seeds, step=STUDY.finetune.checkpoints)
    for name in ("accuracy", "group_accuracy", "components", "prune_trace", "runs")
} | {
    name: expand(f"{L.run}/{file}.parquet", ft_seed=STUDY.finetune.seeds)
    for name, file in {
        "finetune_trace": "trace",
        "finetune_accuracy": "accuracy",
        "overlap_heads": "overlap_heads",
        "core": "core",
        "core_null": "core_null",
        "attention": "attention",
        "attention_maps": "attention_maps",
        "ablation_sets": "ablation_sets",
        "ablation_predictions": "ablation_predictions",
        "control_predictions": "control_predictions",
    }.items()
}
if STUDY.lesion:
    PARTS |= {
        name: expand(f"{L.lesion}/{file}.parquet", ft_seed=STUDY.finetune.seeds, lesion=CONTEXT.lesions)
        for name, file in {"lesions": "heads", "lesion_accuracy": "accuracy"}.items()
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
    group:
        "tables"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda w, attempt: attempt * NEEDS["ablations" if w.table == "ablation_predictions" else "core"].mem_mb,
    params:
        **job("concatenate"),
    shell:
        recorded("fork concatenate --name {wildcards.table} --parts {input} --table {output}")


CRITERIA = {"margin", "margins", "recovery", "agreement", "kl", "subsets"}


rule effective_size:
    input:
        accuracy=L.table("accuracy"),
    output:
        L.table("effective_size"),
    log:
        L.log("tables/effective_size"),
    group:
        "tables"
    conda:
        "../../envs/environment.yaml"
    params:
        **job("effective_size"),
        analysis=STUDY.analysis.model_dump_json(include=CRITERIA),
        context=CONTEXT.model_dump_json(
            exclude={"margin", "subsets", "repeats", "early", "early_seeds", "lesions", "pretraining"}
        ),
    shell:
        recorded(
            "fork effective_size --analysis {params.analysis:q} --context {params.context:q}"
            " --accuracy {input.accuracy} --table {output}"
        )


rule head_frequency:
    input:
        components=L.table("components"),
    output:
        head_frequency=L.table("head_frequency"),
        rank_correlation=L.table("rank_correlation"),
        core_seeds=L.table("core_seeds"),
    log:
        L.log("tables/head_frequency"),
    group:
        "tables"
    conda:
        "../../envs/environment.yaml"
    params:
        **job("head_frequency"),
        context=CONTEXT.model_dump_json(exclude={"margin", "subsets", "lesions", "pretraining"}),
        analysis=STUDY.analysis.model_dump_json(include={"bootstrap", "seed"}),
    shell:
        recorded(
            "fork head_frequency --context {params.context:q} --analysis {params.analysis:q} --components {input.components}"
            " --head-frequency {output.head_frequency} --rank-correlation {output.rank_correlation}"
            " --core-seeds {output.core_seeds}"
        )


rule spread:
    input:
        accuracy=L.table("accuracy"),
        group_accuracy=L.table("group_accuracy"),
        components=L.table("components"),
    output:
        summary=L.table("summary"),
        variance=L.table("variance"),
    log:
        L.log("tables/spread"),
    group:
        "tables"
    conda:
        "../../envs/environment.yaml"
    params:
        **job("spread"),
        context=CONTEXT.model_dump_json(exclude={"margin", "subsets", "lesions", "pretraining"}),
    shell:
        recorded(
            "fork spread --context {params.context:q} --accuracy {input.accuracy} --group-accuracy {input.group_accuracy}"
            " --components {input.components} --summary {output.summary} --variance {output.variance}"
        )


rule describe:
    output:
        f"{L.root}/study.json",
    log:
        L.log("tables/describe"),
    group:
        "tables"
    conda:
        "../../envs/environment.yaml"
    params:
        **job("describe"),
        context=CONTEXT.model_dump_json(),
        settings=STUDY.model_dump_json(),
    shell:
        recorded("fork describe --context {params.context:q} --settings {params.settings:q} --description {output}")


rule ablations:
    input:
        predictions=L.table("ablation_predictions"),
        sets=L.table("ablation_sets"),
    output:
        L.table("ablations"),
    log:
        L.log("tables/ablations"),
    group:
        "tables"
    conda:
        "../../envs/environment.yaml"
    resources:
        **asks("ablations"),
    params:
        **job("ablations"),
        analysis=STUDY.analysis.model_dump_json(include={"bootstrap", "class_rule", "seed", "subsets"}),
    shell:
        recorded(
            "fork ablations --analysis {params.analysis:q} --predictions {input.predictions} --sets {input.sets}"
            " --table {output}"
        )


rule controls:
    input:
        predictions=L.table("control_predictions"),
        learned=[
            f"{L.run}/step{c.step}/s{c.sparsity:g}/seed{c.seed}/predictions.parquet".format(ft_seed=ft_seed)
            for ft_seed in STUDY.finetune.seeds
            for c in spread(STUDY)
        ],
    output:
        L.table("controls"),
    log:
        L.log("tables/controls"),
    group:
        "tables"
    conda:
        "../../envs/environment.yaml"
    params:
        **job("controls"),
        analysis=STUDY.analysis.model_dump_json(include={"class_rule", "control_pairs", "subsets"}),
    shell:
        recorded(
            "fork controls --analysis {params.analysis:q} --learned {input.learned} --predictions {input.predictions}"
            " --table {output}"
        )


# Every table that a claim may read; Snakemake makes those that no figure wanted. An archive may have more than this study.
CLAIM_TABLES = [
    "accuracy",
    "group_accuracy",
    "finetune_accuracy",
    "components",
    "core",
    "core_null",
    "rank_correlation",
    "variance",
    "controls",
    "effective_size",
    "ablations",
    "attention",
    "overlap_heads",
    "lesions",
    "lesion_accuracy",
]
OWN_CLAIM_TABLES = [name for name in CLAIM_TABLES if STUDY.lesion or name not in LESIONED]
