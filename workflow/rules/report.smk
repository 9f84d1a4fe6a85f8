# Verdicts on the paper's claims, and the report: one page with all figures and tables.
from heuristic_core.config.claims import list_claim_tables

CLAIMS = os.path.relpath(EXPERIMENT.claims)
CLAIM_TABLES = list_claim_tables(CLAIMS)


rule describe:
    output:
        description=f"{LAYOUT.root}/study.json",
    log:
        LAYOUT.log("tables/describe"),
    group:
        "tables"
    params:
        **job("describe", settings=format_block(STUDY)),
    shell:
        RUN_FORKED


rule claims:
    input:
        tables=[LAYOUT.table(name) for name in TABLES if name in CLAIM_TABLES],
        claims=link_inputs(CLAIMS),
    output:
        table=LAYOUT.table("claims"),
    log:
        LAYOUT.log("tables/claims"),
    group:
        "tables"
    params:
        **job(f"{PREFIX}_claims", study=STUDY.study),
    shell:
        RUN_FORKED


rule report:
    input:
        claims=rules.claims.output.table,
        settings=rules.describe.output.description,
        captions=link_inputs(
            *(os.path.relpath(f"{workflow.basedir}/workflow/report/{FOLDER}/{name}.rst") for name in AVAILABLE_TARGETS)
        ),
        drawn=[path for name in AVAILABLE_TARGETS for path in target_files(LAYOUT.root, name)],
    output:
        report=f"{LAYOUT.root}/report.html",
    log:
        LAYOUT.log("report"),
    group:
        "tables"
    params:
        **job(
            f"{PREFIX}_report",
            *PAGE_FILES,
            depends_on="run",
            root=lambda w, output: os.path.dirname(output.report),
            targets=AVAILABLE_TARGETS,
            absent=list(UNMET_REASONS.values()),
        ),
    shell:
        RUN_FORKED


# Inputs, settings and code of every result.
rule provenance:
    input:
        rules.report.output,
        [path for path in MEMBERS if path != LAYOUT.table("provenance")],
    output:
        table=LAYOUT.table("provenance"),
    log:
        LAYOUT.log("tables/provenance"),
    group:
        "tables"
    params:
        **job("provenance", has_record=False, root=lambda w, input: os.path.dirname(input[0])),
    shell:
        RUN_FORKED


RESULTS += [path for path in MEMBERS if path not in RESULTS]
