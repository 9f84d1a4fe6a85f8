# Tidy tables of the study from the results of single jobs, and analyses of these tables.
rule gather:
    input:
        full=f"{LAYOUT.step}/predictions.parquet",
        subnetworks=lambda w: [f"{folder}/subnetwork.json" for folder in checkpoint_cell_dirs(w)],
        pruned=lambda w: [f"{folder}/predictions.parquet" for folder in checkpoint_cell_dirs(w)],
        trace_parts=lambda w: [f"{folder}/trace.parquet" for folder in checkpoint_cell_dirs(w)],
    output:
        predictions=f"{LAYOUT.root}/tables/predictions/ft{{ft_seed}}-step{{step}}.parquet",
        accuracy=f"{LAYOUT.step}/accuracy.parquet",
        group_accuracy=f"{LAYOUT.step}/group_accuracy.parquet",
        family_scores=f"{LAYOUT.step}/family_scores.parquet",
        components=f"{LAYOUT.step}/components.parquet",
        traces=f"{LAYOUT.step}/prune_trace.parquet",
        runs=f"{LAYOUT.step}/runs.parquet",
    log:
        LAYOUT.log("gather/ft{ft_seed}-step{step}"),
    priority: first_steps_first
    group:
        "tables"
    resources:
        **cluster_resources("gather"),
    params:
        **job("gather", analysis=SCORING, controller=STUDY.prune.controller),
    shell:
        RUN_FORKED


# Shared heads depend only on the subnetworks of the spread and the early ones: another sparsity reruns no ablation.
rule core:
    input:
        subnetworks=[
            f"{folder}/subnetwork.json" for folder in cell_dirs(sorted({*spread_cells(STUDY), *early_cells(STUDY)}))
        ],
    output:
        core=LAYOUT.core,
        core_null=f"{LAYOUT.run}/core_null.parquet",
        stable_core=f"{LAYOUT.run}/stable_core.parquet",
    log:
        LAYOUT.log("core/ft{ft_seed}"),
    priority: 3
    group:
        ABLATIONS
    resources:
        **(cluster_resources("core") | GPU_RESOURCES),  # submitted where `ablate` is
    params:
        **job(
            "core",
            analysis=format_block(STUDY.analysis, {"permutations", "seed"}),
            context=select_context("early", "early_seeds"),
        ),
    shell:
        RUN_FORKED


rule concatenate:
    input:
        parts=lambda w: PARTS[w.table],
    output:
        table=f"{LAYOUT.root}/tables/{{table}}.parquet",
    log:
        LAYOUT.log("tables/{table}"),
    wildcard_constraints:
        table="|".join(PARTS),
    priority: 3
    group:
        "tables"
    resources:
        **cluster_resources(lambda w: "ablations" if w.table == "ablation_predictions" else "core"),
    params:
        **job("concatenate", name=lambda w: w.table),
    shell:
        RUN_FORKED


rule head_frequency:
    input:
        components=LAYOUT.table("components"),
    output:
        head_frequency=LAYOUT.table("head_frequency"),
        rank_correlation=LAYOUT.table("rank_correlation"),
        core_seeds=LAYOUT.table("core_seeds"),
        frequency_agreement=LAYOUT.table("frequency_agreement"),
        mask_clusters=LAYOUT.table("mask_clusters"),
    log:
        LAYOUT.log("tables/head_frequency"),
    priority: 2  # the longest of the last tables
    group:
        "tables"
    params:
        **job(
            "head_frequency",
            context=select_context("curve_seeds", "early", "early_seeds"),
            analysis=format_block(STUDY.analysis, {"bootstrap", "seed"}),
        ),
    shell:
        RUN_FORKED


rule circuit_performance:
    input:
        group_accuracy=LAYOUT.table("group_accuracy"),
        empty_circuit=LAYOUT.table("empty_circuit"),
        runs=LAYOUT.table("runs"),
    output:
        table=LAYOUT.table("circuit_performance"),
    log:
        LAYOUT.log("tables/circuit_performance"),
    group:
        "tables"
    params:
        **job(
            "circuit_performance",
            analysis=format_block(STUDY.analysis, {"margin", "subsets"}),
            context=select_context("curve_seeds", "curve_repeat", "checkpoints"),
        ),
    shell:
        RUN_FORKED


rule ablations:
    input:
        predictions=LAYOUT.table("ablation_predictions"),
        sets=LAYOUT.table("ablation_sets"),
    output:
        table=LAYOUT.table("ablations"),
        triples=LAYOUT.table("triples"),
    log:
        LAYOUT.log("tables/ablations"),
    group:
        "tables"
    resources:
        **cluster_resources("ablations"),
    params:
        **job("ablations", analysis=SCORING),
    shell:
        RUN_FORKED


rule controls:
    input:
        predictions=LAYOUT.table("control_predictions"),
        runs=LAYOUT.table("runs"),
        learned=[
            f"{folder}/predictions.parquet"
            for ft_seed in STUDY.finetune.seeds
            for folder in cell_dirs(spread_cells(STUDY), ft_seed=ft_seed)
        ],
    output:
        table=LAYOUT.table("controls"),
    log:
        LAYOUT.log("tables/controls"),
    group:
        "tables"
    params:
        **job(
            "controls",
            analysis=format_block(STUDY.analysis, {"bootstrap", "class_rule", "control_pairs", "seed", "subsets"}),
            context=select_context(),
        ),
    shell:
        RUN_FORKED
