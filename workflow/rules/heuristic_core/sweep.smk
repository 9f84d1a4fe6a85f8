# One figure of what changes from study to study, where a file of studies asks for it.
import json

from heuristic_core.figures.targets import outputs

COMPUTES = SWEEP.arithmetic


include: "../jobs.smk"


rule:
    name:
        SWEEP.target
    input:
        tables=[f"{one.study.root}/tables/ablations.parquet" for one in STUDIES.values()],
    output:
        files=outputs(SWEEP.root, SWEEP.target),
    log:
        f"{SWEEP.root}/logs/{SWEEP.target}.log",
    params:
        **job(
            "sweep",
            f"{workflow.basedir}/src/heuristic_core/experiments/{FOLDER}/figures/figure_sweep.py",
            sweep=json.dumps(SWEEP.told),
            folder=SWEEP.root,
        ),
    shell:
        FORK


RESULTS.append(outputs(SWEEP.root, SWEEP.target))
