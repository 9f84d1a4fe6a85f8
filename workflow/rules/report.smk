# What a study shows: the paper's claims judged on its tables, and one page with all of it.
for prefix, layout, context, _, names, tables in DRAWN:

    rule:
        name:
            f"{prefix}claims"
        input:
            tables=[layout.table(name) for name in tables],
            claims=REDRAWN_CLAIMS if prefix == "redrawn_" else os.path.relpath(f"{workflow.basedir}/claims.yaml"),
        output:
            layout.table("claims"),
        log:
            layout.log("tables/claims"),
        group:
            "tables"
        conda:
            "../../envs/environment.yaml"
        params:
            **job("claims"),
            context=context.model_dump_json(),
        shell:
            recorded(
                "fork claims --context {params.context:q} --tables {input.tables:q} --claims {input.claims:q} --table {output}"
            )

    rule:
        name:
            f"{prefix}report"
        input:
            claims=layout.table("claims"),
            splits=[] if prefix.startswith("published_") else layout.table("splits"),  # of these it is not known
            settings=f"{layout.root}/study.json",
            captions=sorted({os.path.relpath(CAPTIONS[name]) for name in names}),
            targets=[path for name in names for path in outputs(layout.root, name)],
            runs=[] if prefix.startswith("published_") else layout.table("runs"),
        output:
            f"{layout.root}/report.html",
        log:
            layout.log("report"),
        group:
            "tables"
        conda:
            "../../envs/environment.yaml"
        params:
            **job("report", *PAGE),
            root=lambda w, output: os.path.dirname(output[0]),
            targets=names,
            context=context.model_dump_json(),
        shell:
            recorded(
                "fork report --root {params.root} --context {params.context:q} --settings {input.settings:q}"
                " --claims {input.claims:q} --captions {input.captions:q} --targets {params.targets}"
                " --report {output}"
            )


# All that a study is run for; what is missing among it is made.
RESULTS = [
    *(path for name in FEEDABLE for path in outputs(L.root, name)),
    f"{L.root}/report.html",
    *(L.table(name) for name in ("prune_trace", "finetune_trace", "provenance")),
]
# Snakemake does not make a missing file while the files that were made from it exist. A missing file that has a record was
# made once: it was damaged and removed, or lost with a job that failed. These rules make it again.
PARTS_OF_RUNS = [
    *rules.finetune.output,
    *rules.finetune_accuracy.output,
    *rules.core.output,
    *rules.ablate.output,
    *rules.evaluate_controls.output,
    *rules.attention.output,
    *rules.initial_attention.output,
]
PARTS_OF_LESIONS = [*rules.lesion.output, *rules.lesion_accuracy.output] if STUDY.lesion else []
PARTS_OF_STEPS = [*rules.full_model.output, *rules.gather.output]
PARTS_OF_CELLS = [f"{{folder}}/{name}" for name in ("subnetwork.json", "trace.parquet", "predictions.parquet")]
MADE = [
    *rules.sentences.output,
    *rules.encode.output,
    *rules.pretrain.output,
    *expand(PARTS_OF_RUNS, ft_seed=STUDY.finetune.seeds),
    *expand(PARTS_OF_LESIONS, ft_seed=STUDY.finetune.seeds, lesion=CONTEXT.lesions),
    *expand(PARTS_OF_STEPS, ft_seed=STUDY.finetune.seeds, step=STUDY.finetune.checkpoints),
    *(
        path.format(folder=folder)
        for ft_seed in STUDY.finetune.seeds
        for step in STUDY.finetune.checkpoints
        for folder in folders_of({"ft_seed": ft_seed, "step": step})
        for path in PARTS_OF_CELLS
    ),
    *map(L.table, [*PARTS, *OWN_CLAIM_TABLES]),
]
RESULTS += [path for path in MADE if not os.path.exists(path) and record_of(path, Path(L.root)).exists()]
