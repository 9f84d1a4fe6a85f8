# The experiment "made".
from types import SimpleNamespace

L = SimpleNamespace(root=STUDY.root, log=lambda name: f"{STUDY.root}/logs/{name}.log")
GPUS = 0
ABSENT = {}


include: "state.smk"


rule squares:
    output:
        table=f"{L.root}/tables/squares.parquet",
    log:
        L.log("squares"),
    params:
        **job("squares", largest=STUDY.largest),
    shell:
        STEP


rule describe:
    output:
        description=f"{L.root}/study.json",
    log:
        L.log("describe"),
    params:
        **job("describe", settings=block(STUDY)),
    shell:
        STEP


RESULTS = [rules.squares.output.table, rules.describe.output.description]
TOLD = [(EXPERIMENT, L.root)]


include: "export.smk"
include: "absent.smk"
