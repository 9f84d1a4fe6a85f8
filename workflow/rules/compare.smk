# Two finished studies of one experiment, of this configuration or any other, on one page:
# `--config compare="results/a results/b"`.
from heuristic_core.common.errors import InputError

if "compare" not in config:
    ABSENT["compare"] = L.log("compare"), 1, f"snakemake --cores 1 compare --config {EXPERIMENT.COMPARISON.usage}"
if "compare" in config:
    try:
        SIDES = EXPERIMENT.COMPARISON.sides(config["compare"])
    except InputError as error:
        raise WorkflowError(str(error)) from None

    COMPARED = f"{STUDY.results}/compare-{SIDES[0].name}-{SIDES[1].name}"

    # The studies' files are no input: comparing them must not run one of them again. Their state is a parameter.
    rule compare:
        output:
            files=multiext(f"{COMPARED}/", "compare.html", "differences.parquet", "differences.csv"),
        log:
            f"{COMPARED}/logs/compare.log",
        localrule: True
        params:
            **job(
                EXPERIMENT.COMPARISON.script,
                *PAGE,
                compare=config["compare"],
                folder=lambda w, output: os.path.dirname(output.files[0]),
            ),
            state=[f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for side in SIDES for path in side.inputs],
        shell:
            FORK
