# Redraw an archive of `export` from its own tables and settings: `--config crate=path`.
REDRAWN_STUDIES = []
if "crate" not in config:
    USAGE_OF_REDRAW = "snakemake --cores all redraw --config crate=<archive that export wrote>"
    UNAVAILABLE_RULES["redraw"] = LAYOUT.log("redraw"), 1, USAGE_OF_REDRAW
if "crate" in config:
    try:
        CRATE = open_crate(str(config["crate"]))
    except InputError as error:
        raise WorkflowError(str(error)) from None

    REDRAWN_LAYOUT = Layout(*[f"{STUDY.results}/from-crate/{CRATE.study}"] * 2)
    REDRAWN_CLAIMS = f"{REDRAWN_LAYOUT.root}/claims.yaml"  # claims on which the study was judged
    REDRAWN_STUDIES.append(
        ReportedStudy(
            prefix="redrawn_",
            layout=REDRAWN_LAYOUT,
            context=CRATE.context,
            figures=CRATE.figures,
            targets=[name for name in TARGETS if missing_requirement(name, CRATE.context, CRATE.tables) is None],
            tables=CRATE.tables,
        )
    )

    rule unpack:
        input:
            crate=link_inputs(str(CRATE.path)),
        output:
            tables=[REDRAWN_LAYOUT.table(name) for name in CRATE.tables],
            study=f"{REDRAWN_LAYOUT.root}/study.json",
            claims=REDRAWN_CLAIMS,
        log:
            REDRAWN_LAYOUT.log("unpack"),
        localrule: True
        params:
            **job("unpack", has_record=False, folder=lambda w, output: os.path.dirname(output.study)),
        shell:
            RUN_FRESH

    rule redraw:
        input:
            [path for name in REDRAWN_STUDIES[0].targets for path in target_files(REDRAWN_LAYOUT.root, name)],
            f"{REDRAWN_LAYOUT.root}/report.html",
        localrule: True
