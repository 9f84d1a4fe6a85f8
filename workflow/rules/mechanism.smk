# What depends on the core: interventions on the last checkpoint of every fine-tuning run. A study has those parts of the
# block `mechanism` that it names; each part writes its tables below {L.run}/mechanism, see MECHANISM in tables.smk.
LAST = f"{L.run}/step{STUDY.last_checkpoint}"
AT_LAST = {
    "checkpoint": f"{LAST}/checkpoint",
    "means": f"{LAST}/means.safetensors",
    "evaluation": rules.encode.output.evaluation,
}


def at_last(part, **settings):
    """Params of the job that analyses one part of the block `mechanism` on the last checkpoint."""
    return job(
        part,
        mechanism=block(STUDY.mechanism, {part}),
        analysis=SCORING,
        **RUN,
        step=STUDY.last_checkpoint,
        **DEVICE,
        **settings,
    )


if STUDY.mechanism.mediation:

    rule mediation:
        input:
            **AT_LAST,
            core=f"{L.run}/core.parquet",
            counter_heads=f"{L.run}/mechanism/counter_heads.parquet" if STUDY.mechanism.masks else [],
        output:
            mediation=f"{L.run}/mechanism/mediation.parquet",
        log:
            L.log("mediation/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("mediation"),
        params:
            **at_last("mediation"),
        shell:
            FORK


if STUDY.mechanism.paths:

    rule paths:
        input:
            **AT_LAST,
            core=f"{L.run}/core.parquet",
        output:
            paths=f"{L.run}/mechanism/paths.parquet",
        log:
            L.log("paths/ft{ft_seed}"),
        group:
            ABLATIONS
        resources:
            **asks_model("paths"),
        params:
            **at_last("paths"),
        shell:
            FORK
