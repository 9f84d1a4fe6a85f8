# Compare two finished studies of one experiment on one page:
# `--config compare="results/a results/b"`.
from heuristic_core.common.errors import InputError

if "compare" not in config:
    UNAVAILABLE_RULES["compare"] = (
        LAYOUT.log("compare"),
        1,
        f"snakemake --cores 1 compare --config {EXPERIMENT.comparison.usage}",
    )
if "compare" in config:
    try:
        COMPARED_STUDIES = EXPERIMENT.comparison.sides(config["compare"])
    except InputError as error:
        raise WorkflowError(str(error)) from None

    COMPARISON_DIR = f"{STUDY.results}/compare-{COMPARED_STUDIES[0].name}-{COMPARED_STUDIES[1].name}"

    # The studies' files are not inputs, since a comparison must not rerun a study. Their state is a parameter instead.
    rule compare:
        output:
            files=multiext(f"{COMPARISON_DIR}/", "compare.html", "differences.parquet", "differences.csv"),
        log:
            f"{COMPARISON_DIR}/logs/compare.log",
        localrule: True
        params:
            **job(
                EXPERIMENT.comparison.script,
                *PAGE_FILES,
                compare=config["compare"],
                folder=lambda w, output: os.path.dirname(output.files[0]),
            ),
            state=[
                f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}"
                for side in COMPARED_STUDIES
                for path in side.inputs
            ],
        shell:
            RUN_FORKED
