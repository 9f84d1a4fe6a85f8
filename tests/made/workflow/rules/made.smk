# The experiment "made".
from types import SimpleNamespace

LAYOUT = SimpleNamespace(root=STUDY.root, log=lambda name: f"{STUDY.root}/logs/{name}.log")
GPUS = 0
UNAVAILABLE_RULES = {}


include: "state.smk"


rule squares:
    output:
        table=f"{LAYOUT.root}/tables/squares.parquet",
    log:
        LAYOUT.log("squares"),
    params:
        **job("squares", largest=STUDY.largest),
    shell:
        RUN_FRESH


rule describe:
    output:
        description=f"{LAYOUT.root}/study.json",
    log:
        LAYOUT.log("describe"),
    params:
        **job("describe", settings=format_block(STUDY)),
    shell:
        RUN_FRESH


RESULTS = [rules.squares.output.table, rules.describe.output.description]
WARNING_SOURCES = [(EXPERIMENT, LAYOUT.root)]


include: "export.smk"
include: "absent.smk"
