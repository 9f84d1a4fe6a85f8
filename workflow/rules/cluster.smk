# What jobs request from a cluster. Only its profile sets default resources; without them nothing is estimated.
# GPUS must be set before.
DEFAULT_RESOURCES = workflow.resource_settings.default_resources or {}
NEEDS = EXPERIMENT.estimate_needs(STUDY) if DEFAULT_RESOURCES else {}
# Entries of the profile's default resources that concern only jobs with a GPU.
GPU_RESOURCES = {
    resource: DEFAULT_RESOURCES[name].raw
    for name, resource in {
        "gpu_partition": "slurm_partition",
        "gpu_constraint": "constraint",
        "gpu_type": "gpu_model",
        "gpu_gres": "gres",
    }.items()
    if GPUS and name in DEFAULT_RESOURCES
}


def cluster_resources(rule):
    """Return the memory (MB) and time (minutes) that a job of `rule` requests; a retry requests twice as much.

    Args:
        rule: A rule of NEEDS, or a function of the job's wildcards that returns one.
    """

    def request(name):
        return lambda w, attempt: attempt * getattr(NEEDS[rule(w) if callable(rule) else rule], name)

    return {name: request(name) for name in ("mem_mb", "runtime")} if NEEDS else {}


def model_resources(rule):
    """Return the same for a job that runs a model: with a GPU if the study uses one, one at a time in a group."""
    return cluster_resources(rule) | {"gpu": 0 if "gres" in GPU_RESOURCES else GPUS, "turn": 1} | GPU_RESOURCES
