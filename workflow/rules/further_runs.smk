# Parts of the block `mechanism` that rest on further pruning runs, or on subnetworks moved between checkpoints.
PRUNED = {
    **{name: AT_LAST[name] for name in ("checkpoint", "means")},
    "logits": f"{LAST}/logits.safetensors",
    "train": rules.encode.output.train,
}
PART = f"{L.run}/mechanism"


CLOSED = closed_blocks(STUDY)
for number, runs in enumerate(CLOSED):

    rule:
        name:
            f"prune_closed_{number}"
        input:
            **PRUNED,
            core=f"{L.run}/core.parquet",
        output:
            subnetworks=[f"{PART}/closed/set{run.set}/seed{run.seed}/subnetwork.json" for run in runs],
            traces=[f"{PART}/closed/set{run.set}/seed{run.seed}/trace.parquet" for run in runs],
        log:
            L.log(f"prune_closed/ft{{ft_seed}}-{number}"),
        group:
            ABLATIONS
        resources:
            **asks_model("prune"),
        params:
            **job(
                "prune_closed",
                prune=block(STUDY.prune),
                **RUN,
                step=STUDY.last_checkpoint,
                sparsity=STUDY.grid.mid,
                sets=[run.set for run in runs],
                seeds=[run.seed for run in runs],
                control_sets=STUDY.mechanism.core_free.control_sets,
                draw_seed=STUDY.analysis.seed,
                device=STUDY.device,
            ),
        shell:
            FORK


if STUDY.mechanism.core_free:

    rule core_free:
        input:
            **AT_LAST,
            core=f"{L.run}/core.parquet",
            subnetworks=[
                path
                for number in range(len(CLOSED))
                for path in getattr(rules, f"prune_closed_{number}").output.subnetworks
            ],
            trace_parts=[
                path
                for number in range(len(CLOSED))
                for path in getattr(rules, f"prune_closed_{number}").output.traces
            ],
            mid=[f"{folder}/predictions.parquet" for folder in MID],
            components=SOUND,
        output:
            core_free_runs=f"{PART}/core_free_runs.parquet",
            core_free=f"{PART}/core_free.parquet",
        log:
            L.log("core_free/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("core_free"),
        params:
            **job(
                "core_free",
                mechanism=block(STUDY.mechanism, {"core_free"}),
                analysis=block(STUDY.analysis, {"subsets", "class_rule", "bootstrap", "seed", "margin"}),
                **RUN,
                step=STUDY.last_checkpoint,
                sparsity=STUDY.grid.mid,
                controller=STUDY.prune.controller,
                **DEVICE,
            ),
        shell:
            FORK

    rule packing:
        input:
            **PRUNED,
            evaluation=rules.encode.output.evaluation,
            first=f"{LAST}/s{STUDY.grid.high:g}/seed{STUDY.grid.seeds[0]}/subnetwork.json",
        output:
            packing=f"{PART}/packing.parquet",
        log:
            L.log("packing/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("packing"),
        params:
            **job(
                "packing",
                prune=block(STUDY.prune),
                mechanism=block(STUDY.mechanism, {"core_free"}),
                analysis=block(STUDY.analysis, {"subsets", "class_rule", "seed"}),
                **RUN,
                step=STUDY.last_checkpoint,
                sparsity=STUDY.grid.high,
                **DEVICE,
            ),
        shell:
            FORK


if STUDY.mechanism.transplant:

    rule transplant:
        input:
            checkpoints=[f"{L.run}/step{step}/checkpoint" for step in STUDY.grid.checkpoints],
            means=[f"{L.run}/step{step}/means.safetensors" for step in STUDY.grid.checkpoints],
            subnetworks=[
                f"{L.run}/step{step}/s{STUDY.grid.mid:g}/seed{seed}/subnetwork.json"
                for step in STUDY.grid.checkpoints
                for seed in STUDY.grid.curve_seeds
            ],
            evaluation=rules.encode.output.evaluation,
        output:
            transplant=f"{PART}/transplant.parquet",
        log:
            L.log("transplant/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("transplant"),
        params:
            **job(
                "transplant",
                mechanism=block(STUDY.mechanism, {"transplant"}),
                analysis=block(STUDY.analysis, {"subsets", "class_rule"}),
                **RUN,
                sparsity=STUDY.grid.mid,
                steps=STUDY.grid.checkpoints,
                **DEVICE,
            ),
        shell:
            FORK


if STUDY.mechanism.entry:

    rule entry:
        input:
            components=[f"{L.run}/step{step}/components.parquet" for step in STUDY.mechanism.entry.checkpoints],
            pruned=[f"{L.run}/step{step}/runs.parquet" for step in STUDY.mechanism.entry.checkpoints],
            core=f"{L.run}/core.parquet",
            finetuning=f"{L.run}/accuracy.parquet",
            counter_heads=f"{PART}/counter_heads.parquet" if STUDY.mechanism.masks else [],
        output:
            entry_frequency=f"{PART}/entry_frequency.parquet",
            entry=f"{PART}/entry.parquet",
        log:
            L.log("entry/ft{ft_seed}"),
        group:
            "tables"
        params:
            **job("entry", context=context_of(CONTEXT, "entry", "entry_seeds", "subsets")),
        shell:
            FORK
