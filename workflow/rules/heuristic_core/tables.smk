# From the results of single jobs to the tidy tables of the study, and from these to findings.
rule gather:
    input:
        full=f"{L.step}/predictions.parquet",
        subnetworks=lambda w: [f"{folder}/subnetwork.json" for folder in folders_of(w)],
        pruned=lambda w: [f"{folder}/predictions.parquet" for folder in folders_of(w)],
        trace_parts=lambda w: [f"{folder}/trace.parquet" for folder in folders_of(w)],
    output:
        predictions=f"{L.root}/tables/predictions/ft{{ft_seed}}-step{{step}}.parquet",
        accuracy=f"{L.step}/accuracy.parquet",
        group_accuracy=f"{L.step}/group_accuracy.parquet",
        family_scores=f"{L.step}/family_scores.parquet",
        components=f"{L.step}/components.parquet",
        traces=f"{L.step}/prune_trace.parquet",
        runs=f"{L.step}/runs.parquet",
    log:
        L.log("gather/ft{ft_seed}-step{step}"),
    group:
        "tables"
    resources:
        **asks("gather"),
    params:
        **job("gather", analysis=SCORING, controller=STUDY.prune.controller),
    shell:
        FORK


# The heads that subnetworks share depend on the spread and the early ones alone: another sparsity reruns no ablation.
rule core:
    input:
        subnetworks=[f"{folder}/subnetwork.json" for folder in folders(sorted({*spread(STUDY), *early(STUDY)}))],
    output:
        core=L.core,
        core_null=f"{L.run}/core_null.parquet",
        stable_core=f"{L.run}/stable_core.parquet",
    log:
        L.log("core/ft{ft_seed}"),
    group:
        ABLATIONS
    resources:
        **(asks("core") | AT_GPU),  # goes where `ablate` goes
    params:
        **job(
            "core",
            analysis=block(STUDY.analysis, {"permutations", "seed"}),
            context=context_of(CONTEXT, "early", "early_seeds"),
        ),
    shell:
        FORK


PARTS = (
    {
        name: expand(f"{L.step}/{name}.parquet", ft_seed=STUDY.finetune.seeds, step=STUDY.finetune.checkpoints)
        for name in ("accuracy", "group_accuracy", "family_scores", "components", "prune_trace", "runs")
    }
    | {
        "empty_circuit": expand(
            f"{L.step}/empty_circuit.parquet", ft_seed=STUDY.finetune.seeds, step=STUDY.grid.checkpoints
        ),
    }
    | {
        name: expand(f"{L.run}/{file}.parquet", ft_seed=STUDY.finetune.seeds)
        for name, file in {
            "finetune_trace": "trace",
            "finetune_accuracy": "accuracy",
            "chance": "chance",
            "overlap_heads": "overlap_heads",
            "core": "core",
            "core_null": "core_null",
            "stable_core": "stable_core",
            "attention": "attention",
            "attention_maps": "attention_maps",
            "ablation_sets": "ablation_sets",
            "ablation_predictions": "ablation_predictions",
            "control_predictions": "control_predictions",
        }.items()
    }
)
if STUDY.lesion:
    PARTS |= {
        name: expand(f"{L.lesion}/{file}.parquet", ft_seed=STUDY.finetune.seeds, lesion=CONTEXT.lesions)
        for name, file in {"lesions": "heads", "lesion_accuracy": "accuracy"}.items()
    }
PARTS |= {
    name: expand(f"{L.run}/mechanism/{name}.parquet", ft_seed=STUDY.finetune.seeds)
    for part in STUDY.mechanism.parts
    for name in MECHANISM.get(part, ())
}


rule concatenate:
    input:
        parts=lambda w: PARTS[w.table],
    output:
        table=f"{L.root}/tables/{{table}}.parquet",
    log:
        L.log("tables/{table}"),
    wildcard_constraints:
        table="|".join(PARTS),
    group:
        "tables"
    resources:
        mem_mb=lambda w, attempt: attempt * NEEDS["ablations" if w.table == "ablation_predictions" else "core"].mem_mb,
    params:
        **job("concatenate", name=lambda w: w.table),
    shell:
        FORK


rule head_frequency:
    input:
        components=L.table("components"),
    output:
        head_frequency=L.table("head_frequency"),
        rank_correlation=L.table("rank_correlation"),
        core_seeds=L.table("core_seeds"),
        frequency_agreement=L.table("frequency_agreement"),
        mask_clusters=L.table("mask_clusters"),
    log:
        L.log("tables/head_frequency"),
    group:
        "tables"
    params:
        **job(
            "head_frequency",
            context=context_of(CONTEXT, "curve_seeds", "early", "early_seeds"),
            analysis=block(STUDY.analysis, {"bootstrap", "seed"}),
        ),
    shell:
        FORK


rule circuit_performance:
    input:
        group_accuracy=L.table("group_accuracy"),
        empty_circuit=L.table("empty_circuit"),
        runs=L.table("runs"),
    output:
        table=L.table("circuit_performance"),
    log:
        L.log("tables/circuit_performance"),
    group:
        "tables"
    params:
        **job(
            "circuit_performance",
            analysis=block(STUDY.analysis, {"margin", "subsets"}),
            context=context_of(CONTEXT, "curve_seeds", "curve_repeat", "checkpoints"),
        ),
    shell:
        FORK


# The same of this study and of published ones, which have no components.
for one in (OWN, *PUBLISHED_STUDIES):

    rule:
        name:
            f"{one.prefix}effective_size"
        input:
            accuracy=one.layout.table("accuracy"),
            runs=L.table("runs") if one is OWN else [],
            groups=L.table("group_accuracy") if one is OWN else [],
        output:
            table=one.layout.table("effective_size"),
        log:
            one.layout.log("tables/effective_size"),
        group:
            "tables"
        params:
            **job(
                "effective_size",
                analysis=block(
                    one.analysis, {"margin", "margins", "recovery", "agreement", "kl", "effective_size", "subsets"}
                ),
                context=context_of(one.context, "curve_seeds", "curve_repeat", "checkpoints"),
            ),
        shell:
            FORK

    rule:
        name:
            f"{one.prefix}spread"
        input:
            accuracy=one.layout.table("accuracy"),
            group_accuracy=one.layout.table("group_accuracy"),
            components=L.table("components") if one is OWN else [],
        output:
            summary=one.layout.table("summary"),
            variance=one.layout.table("variance"),
        log:
            one.layout.log("tables/spread"),
        group:
            "tables"
        params:
            **job("spread", context=context_of(one.context, "repeats")),
        shell:
            FORK


rule describe:
    output:
        description=f"{L.root}/study.json",
    log:
        L.log("tables/describe"),
    group:
        "tables"
    params:
        **job("describe", context=block(CONTEXT), settings=block(STUDY)),
    shell:
        FORK


rule ablations:
    input:
        predictions=L.table("ablation_predictions"),
        sets=L.table("ablation_sets"),
    output:
        table=L.table("ablations"),
        triples=L.table("triples"),
    log:
        L.log("tables/ablations"),
    group:
        "tables"
    resources:
        **asks("ablations"),
    params:
        **job("ablations", analysis=SCORING),
    shell:
        FORK


rule controls:
    input:
        predictions=L.table("control_predictions"),
        learned=[
            f"{folder}/predictions.parquet"
            for ft_seed in STUDY.finetune.seeds
            for folder in folders(spread(STUDY), ft_seed=ft_seed)
        ],
    output:
        table=L.table("controls"),
    log:
        L.log("tables/controls"),
    group:
        "tables"
    params:
        **job("controls", analysis=block(STUDY.analysis, {"class_rule", "control_pairs", "seed", "subsets"})),
    shell:
        FORK
