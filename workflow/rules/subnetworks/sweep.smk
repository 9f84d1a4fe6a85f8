# One figure across the studies of a file with the block `sweep`.
import json

from heuristic_core.figures.targets import target_files

JOB_ARITHMETIC = SWEEP.arithmetic


include: "../jobs.smk"


rule:
    name:
        SWEEP.target
    input:
        tables=[f"{entry.study.root}/tables/ablations.parquet" for entry in STUDIES.values()],
    output:
        files=target_files(SWEEP.root, SWEEP.target),
    log:
        f"{SWEEP.root}/logs/{SWEEP.target}.log",
    params:
        **job(
            "sweep",
            f"{workflow.basedir}/src/heuristic_core/experiments/{FOLDER}/figures/figure_sweep.py",
            sweep=json.dumps(SWEEP.figure_settings),
            folder=SWEEP.root,
        ),
    shell:
        RUN_FORKED


RESULTS.append(target_files(SWEEP.root, SWEEP.target))
