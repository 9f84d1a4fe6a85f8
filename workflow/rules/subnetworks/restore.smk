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
    *expand(PARTS_OF_STEPS, ft_seed=STUDY.finetune.seeds, step=pruned_steps(STUDY)),
    *expand(rules.empty_circuit.output, ft_seed=STUDY.finetune.seeds, step=STUDY.grid.checkpoints),
    *(
        path.format(folder=folder)
        for ft_seed in STUDY.finetune.seeds
        for step in pruned_steps(STUDY)
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
