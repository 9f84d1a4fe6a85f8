# Verdicts on the paper's claims, and the report: one page with all figures and tables.
from heuristic_core.config.claims import list_claim_tables

# Beside what claims read, "runs", if the study has it: pruning runs that failed or collapsed, which no claim counts.
CLAIM_TABLES = {"runs", *list_claim_tables(EXPERIMENT.claims)}


rule claims:
    input:
        tables=[LAYOUT.table(name) for name in TABLES if name in CLAIM_TABLES],
        claims=CLAIMS,
    output:
        table=LAYOUT.table("claims"),
    log:
        LAYOUT.log("tables/claims"),
    group:
        "tables"
    params:
        **job(f"{EXPERIMENT.script_prefix}claims", **EXPERIMENT.claim_settings(STUDY)),
    shell:
        RUN_FORKED


rule report:
    input:
        claims=LAYOUT.table("claims"),
        settings=LAYOUT.description,
        captions=link_inputs(*sorted({os.path.relpath(path) for path in CAPTIONS.values()})),
        replicates=link_inputs(*EXPERIMENT.list_replicates(STUDY.study)),
        drawn=[path for name in AVAILABLE_TARGETS for path in target_files(LAYOUT.root, name)],
        tables=[LAYOUT.table(name) for name in EXPERIMENT.list_report_tables(STUDY)],
    output:
        report=LAYOUT.report,
    log:
        LAYOUT.log("report"),
    group:
        "tables"
    params:
        **job(
            f"{EXPERIMENT.script_prefix}report",
            *PAGE_FILES,
            depends_on="run",
            root=lambda w, output: os.path.dirname(output.report),
            targets=AVAILABLE_TARGETS,
            absent=list(EXPERIMENT.list_unavailable(STUDY).values()),
            **EXPERIMENT.report_settings(STUDY),
        ),
    shell:
        RUN_FORKED
