# Verdicts on the paper's claims, and the report: one page with all figures and tables.
from heuristic_core.config.claims import list_claim_tables

# "runs" has the runs that failed or collapsed, which no claim counts.
CLAIM_TABLES = {"runs", *list_claim_tables(EXPERIMENT.claims)}

for study in REPORTED_STUDIES:

    rule:
        name:
            f"{study.prefix}claims"
        input:
            tables=[study.layout.table(name) for name in study.tables if name in CLAIM_TABLES],
            claims=REDRAWN_CLAIMS if study in REDRAWN_STUDIES else link_inputs(os.path.relpath(EXPERIMENT.claims)),
        output:
            table=study.layout.table("claims"),
        log:
            study.layout.log("tables/claims"),
        group:
            "tables"
        params:
            **job("claims", context=format_block(study.context)),
        shell:
            RUN_FORKED

    rule:
        name:
            f"{study.prefix}report"
        input:
            claims=study.layout.table("claims"),
            splits=[] if study in PUBLISHED_STUDIES else study.layout.table("splits"),  # unknown for published studies
            settings=f"{study.layout.root}/study.json",
            captions=link_inputs(*sorted({os.path.relpath(CAPTIONS[name]) for name in study.targets})),
            replicates=link_inputs(*EXPERIMENT.list_replicates(os.path.basename(study.layout.root))),
            drawn=[path for name in study.targets for path in target_files(study.layout.root, name)],
            runs=[] if study in PUBLISHED_STUDIES else study.layout.table("runs"),
            chance=LAYOUT.table("chance") if study is CURRENT_STUDY else [],  # an archive may be older
            subnetworks=(
                [study.layout.table(name) for name in ("components", "accuracy", "group_accuracy")]
                if "components" in study.tables
                else []
            ),
        output:
            report=f"{study.layout.root}/report.html",
        log:
            study.layout.log("report"),
        group:
            "tables"
        params:
            **job(
                "report",
                *PAGE_FILES,
                depends_on="run",
                root=lambda w, output: os.path.dirname(output.report),
                targets=study.targets,
                absent=[] if study.prefix else list(EXPERIMENT.list_unavailable(STUDY).values()),
                context=format_block(study.context),
            ),
        shell:
            RUN_FORKED


# Studies whose warnings are printed at the end: published and redrawn ones if the command names any, else this study.
WARNING_SOURCES = [(EXPERIMENT, study.layout.root) for study in REPORTED_STUDIES[1:] or REPORTED_STUDIES]


# Files of a finished study.
RESULTS = list(MEMBERS)
# Snakemake does not restore a missing intermediate file while the files made from it exist. A missing file with a
# record was made once and removed since, because it was damaged or its job failed: it is requested again.
PARTS_OF_RUNS = [
    *rules.finetune.output,
    *rules.finetune_accuracy.output,
    *rules.chance.output,
    *rules.core.output,
    *rules.ablate.output,
    *rules.evaluate_controls.output,
    *rules.attention.output,
    *rules.initial_attention.output,
]
PARTS_OF_LESIONS = [*rules.lesion.output, *rules.lesion_accuracy.output] if STUDY.lesion else []
PARTS_OF_STEPS = [*rules.full_model.output, *rules.gather.output]
PARTS_OF_CELLS = [f"{{folder}}/{name}" for name in ("subnetwork.json", "trace.parquet", "predictions.parquet")]
RESTORABLE_OUTPUTS = [
    *rules.sentences.output,
    *rules.encode.output,
    *rules.minimal_pairs.output,
    *(rules.pretrain.output if STUDY.pretraining else []),
    *expand(PARTS_OF_RUNS, ft_seed=STUDY.finetune.seeds),
    *expand(PARTS_OF_LESIONS, ft_seed=STUDY.finetune.seeds, lesion=CONTEXT.lesions),
    *(path for paths in PARTS.values() for path in paths if "/mechanism/" in path),
    *expand(PARTS_OF_STEPS, ft_seed=STUDY.finetune.seeds, step=STUDY.finetune.checkpoints),
    *expand(rules.empty_circuit.output, ft_seed=STUDY.finetune.seeds, step=STUDY.grid.checkpoints),
    *(
        path.format(folder=folder)
        for ft_seed in STUDY.finetune.seeds
        for step in STUDY.finetune.checkpoints
        for folder in checkpoint_cell_dirs({"ft_seed": ft_seed, "step": step})
        for path in PARTS_OF_CELLS
    ),
    *map(LAYOUT.table, PARTS),
]
RESULTS += [
    path
    for path in dict.fromkeys(RESTORABLE_OUTPUTS)
    if path not in RESULTS and not os.path.exists(path) and record_path(path, Path(LAYOUT.root)).exists()
]
