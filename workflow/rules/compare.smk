# Two finished studies, of this configuration or any other, on one page: `--config compare="results/a results/b"`.
from heuristic_core.common.errors import InputError
from heuristic_core.report.sides import USAGE, parse_sides

if "compare" in config:
    try:
        SIDES = parse_sides(config["compare"])
    except InputError as error:
        raise WorkflowError(str(error)) from None

    COMPARED = Layout(*[f"{STUDY.results}/compare-{SIDES[0].name}-{SIDES[1].name}"] * 2)

    # The studies' files are no input: comparing them must not run one of them again. Their state is a parameter.
    rule compare:
        output:
            multiext(f"{COMPARED.root}/", "compare.html", "differences.parquet", "differences.csv"),
        log:
            COMPARED.log("compare"),
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            **job("compare", *PAGE),
            compare=config["compare"],
            folder=lambda w, output: os.path.dirname(output[0]),
            files=[f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for side in SIDES for path in side.inputs],
        shell:
            recorded("fork compare --compare {params.compare:q} --folder {params.folder}")

else:

    rule compare:
        log:
            L.log("compare"),
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            usage=f"snakemake --cores 1 compare --config {USAGE}",
        shell:
            "echo {params.usage:q} | tee {log} >&2; exit 1"
