# Two finished studies, of this configuration or any other, on one page: `--config compare="results/a results/b"`.
from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.report.sides import USAGE, parse_sides

if "compare" not in config:
    ABSENT["compare"] = L.log("compare"), 1, f"snakemake --cores 1 compare --config {USAGE}"
if "compare" in config:
    try:
        SIDES = parse_sides(config["compare"])
    except InputError as error:
        raise WorkflowError(str(error)) from None

    COMPARED = Layout(*[f"{STUDY.results}/compare-{SIDES[0].name}-{SIDES[1].name}"] * 2)

    # The studies' files are no input: comparing them must not run one of them again. Their state is a parameter.
    rule compare:
        output:
            files=multiext(f"{COMPARED.root}/", "compare.html", "differences.parquet", "differences.csv"),
        log:
            COMPARED.log("compare"),
        localrule: True
        params:
            **job(
                "compare", *PAGE, compare=config["compare"], folder=lambda w, output: os.path.dirname(output.files[0])
            ),
            state=[f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for side in SIDES for path in side.inputs],
        shell:
            FORK
