# Parts of the block `mechanism` that rest on further pruning runs, or on subnetworks moved between checkpoints.
PRUNED = {
    **{name: AT_LAST[name] for name in ("checkpoint", "means")},
    "logits": f"{LAST}/logits.safetensors",
    "train": rules.encode.output.train,
}
CLOSED = closed_blocks(STUDY)
for number, runs in enumerate(CLOSED):

    rule:
        name:
            f"prune_closed_{number}"
        input:
            **PRUNED,
            core=L.core,
        output:
            subnetworks=[f"{folder}/subnetwork.json" for folder in folders(runs, L.closed)],
            traces=[f"{folder}/trace.parquet" for folder in folders(runs, L.closed)],
        log:
            L.log(f"prune_closed/ft{{ft_seed}}-{number}"),
        group:
            ABLATIONS
        resources:
            **asks_model("prune"),
        params:
            **at_last(
                "prune_closed",
                prune=block(STUDY.prune),
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
            core=L.core,
            subnetworks=[f"{folder}/subnetwork.json" for runs in CLOSED for folder in folders(runs, L.closed)],
            trace_parts=[f"{folder}/trace.parquet" for runs in CLOSED for folder in folders(runs, L.closed)],
            mid=[f"{folder}/predictions.parquet" for folder in MID],
            components=SOUND,
        output:
            core_free_runs=L.mechanism("core_free_runs"),
            core_free=L.mechanism("core_free"),
        log:
            L.log("core_free/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("core_free"),
        params:
            **mechanism(
                "core_free",
                block(STUDY.analysis, {"subsets", "class_rule", "bootstrap", "seed", "margin"}),
                sparsity=STUDY.grid.mid,
                controller=STUDY.prune.controller,
            ),
        shell:
            FORK

    rule packing:
        input:
            **PRUNED,
            evaluation=rules.encode.output.evaluation,
            first=f"{LAST}/s{STUDY.grid.high:g}/seed{STUDY.grid.seeds[0]}/subnetwork.json",
        output:
            packing=L.mechanism("packing"),
        log:
            L.log("packing/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("packing"),
        params:
            **at_last(
                "packing",
                prune=block(STUDY.prune),
                mechanism=block(STUDY.mechanism, {"core_free"}),
                analysis=block(STUDY.analysis, {"subsets", "class_rule", "seed"}),
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
                f"{folder}/subnetwork.json"
                for folder in folders(c for c in surface(STUDY) if c.sparsity == STUDY.grid.mid)
            ],
            evaluation=rules.encode.output.evaluation,
        output:
            transplant=L.mechanism("transplant"),
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
                analysis=block(STUDY.analysis, {"subsets", "class_rule", "seed"}),
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
            core=L.core,
            finetuning=f"{L.run}/accuracy.parquet",
            counter_heads=L.mechanism("counter_heads") if STUDY.mechanism.masks else [],
        output:
            entry_frequency=L.mechanism("entry_frequency"),
            entry=L.mechanism("entry"),
        log:
            L.log("entry/ft{ft_seed}"),
        group:
            "tables"
        params:
            **job("entry", context=context_of(CONTEXT, "entry", "entry_seeds", "subsets")),
        shell:
            FORK
