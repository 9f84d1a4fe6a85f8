# What a study shows: the paper's claims judged on its tables, and one page with all of it.
from heuristic_core.config.claims import load_claims

CLAIMS = os.path.relpath(EXPERIMENT.CLAIMS)
JUDGED = {table for claim in load_claims(CLAIMS) for table in claim.tables}


rule describe:
    output:
        description=f"{L.root}/study.json",
    log:
        L.log("tables/describe"),
    group:
        "tables"
    params:
        **job("describe", settings=block(STUDY)),
    shell:
        FORK


rule claims:
    input:
        tables=[L.table(name) for name in TABLES if name in JUDGED],
        claims=plain(CLAIMS),
    output:
        table=L.table("claims"),
    log:
        L.log("tables/claims"),
    group:
        "tables"
    params:
        **job(f"{PREFIX}_claims", study=STUDY.study),
    shell:
        FORK


rule report:
    input:
        claims=rules.claims.output.table,
        settings=rules.describe.output.description,
        captions=plain(
            *(os.path.relpath(f"{workflow.basedir}/workflow/report/{FOLDER}/{name}.rst") for name in SHOWN_TARGETS)
        ),
        drawn=[path for name in SHOWN_TARGETS for path in outputs(L.root, name)],
    output:
        report=f"{L.root}/report.html",
    log:
        L.log("report"),
    group:
        "tables"
    params:
        **job(
            f"{PREFIX}_report",
            *PAGE,
            depends_on="run",
            root=lambda w, output: os.path.dirname(output.report),
            targets=list(SHOWN_TARGETS),
            absent=[reason for reason in UNMET.values() if reason],
        ),
    shell:
        FORK


# What results were made from.
rule provenance:
    input:
        rules.report.output,
        [path for path in MEMBERS if path != L.table("provenance")],
    output:
        table=L.table("provenance"),
    log:
        L.log("tables/provenance"),
    group:
        "tables"
    params:
        **job("provenance", recorded=False, root=lambda w, input: os.path.dirname(input[0])),
    shell:
        FORK


RESULTS += [path for path in MEMBERS if path not in RESULTS]
