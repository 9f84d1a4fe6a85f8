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
