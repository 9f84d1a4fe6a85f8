# What a study shows: the paper's claims judged on its tables, and one page with all of it.
for one in DRAWN:

    rule:
        name:
            f"{one.prefix}claims"
        input:
            tables=[one.layout.table(name) for name in one.tables],
            claims=REDRAWN_CLAIMS if one in REDRAWN else plain(os.path.relpath(f"{FILES}/claims.yaml")),
        output:
            table=one.layout.table("claims"),
        log:
            one.layout.log("tables/claims"),
        group:
            "tables"
        params:
            **job("claims", context=block(one.context)),
        shell:
            FORK

    rule:
        name:
            f"{one.prefix}report"
        input:
            claims=one.layout.table("claims"),
            splits=[] if one in PUBLISHED_STUDIES else one.layout.table("splits"),  # of these it is not known
            settings=f"{one.layout.root}/study.json",
            captions=plain(*sorted({os.path.relpath(CAPTIONS[name]) for name in one.targets})),
            drawn=[path for name in one.targets for path in outputs(one.layout.root, name)],
            runs=[] if one in PUBLISHED_STUDIES else one.layout.table("runs"),
            chance=L.table("chance") if one is OWN else [],  # an archive may be older
            subnetworks=(
                [one.layout.table(name) for name in ("components", "accuracy", "group_accuracy")]
                if "components" in one.tables
                else []
            ),
        output:
            report=f"{one.layout.root}/report.html",
        log:
            one.layout.log("report"),
        group:
            "tables"
        params:
            **job(
                "report",
                *PAGE,
                depends_on="run",
                root=lambda w, output: os.path.dirname(output.report),
                targets=one.targets,
                absent=[] if one.prefix else list(lacking(STUDY).values()),
                context=block(one.context),
            ),
        shell:
            FORK


# Studies of which the terminal says at the end what went wrong: what a command is about, or else the study itself.
TOLD = [(EXPERIMENT, one.layout.root) for one in DRAWN[1:] or DRAWN]


# All that a study is run for; what is missing among it is made.
RESULTS = list(MEMBERS)
# Snakemake does not make a missing file while the files that were made from it exist. A missing file that has a record was
# made once: it was damaged and removed, or lost with a job that failed. These rules make it again.
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
MADE = [
    *rules.sentences.output,
    *rules.encode.output,
    *rules.minimal_pairs.output,
    *(rules.pretrain.output if STUDY.pretraining else []),
    *expand(PARTS_OF_RUNS, ft_seed=STUDY.finetune.seeds),
    *expand(PARTS_OF_LESIONS, ft_seed=STUDY.finetune.seeds, lesion=CONTEXT.lesions),
    *(path for part in STUDY.mechanism.parts for name in MECHANISM.get(part, ()) for path in PARTS[name]),
    *expand(PARTS_OF_STEPS, ft_seed=STUDY.finetune.seeds, step=STUDY.finetune.checkpoints),
    *expand(rules.empty_circuit.output, ft_seed=STUDY.finetune.seeds, step=STUDY.grid.checkpoints),
    *(
        path.format(folder=folder)
        for ft_seed in STUDY.finetune.seeds
        for step in STUDY.finetune.checkpoints
        for folder in folders_of({"ft_seed": ft_seed, "step": step})
        for path in PARTS_OF_CELLS
    ),
    *map(L.table, PARTS),
]
RESULTS += [
    path
    for path in dict.fromkeys(MADE)
    if path not in RESULTS and not os.path.exists(path) and record_of(path, Path(L.root)).exists()
]
