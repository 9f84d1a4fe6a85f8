# An archive that `export` wrote, drawn again from its own tables and settings: `--config crate=path`.
REDRAWN = []
if "crate" not in config:
    USAGE_OF_REDRAW = "snakemake --cores all redraw --config crate=<archive that export wrote>"
    ABSENT["redraw"] = L.log("redraw"), 1, USAGE_OF_REDRAW
if "crate" in config:
    try:
        CRATE = open_crate(str(config["crate"]))
    except InputError as error:
        raise WorkflowError(str(error)) from None

    R = Layout(*[f"{STUDY.results}/from-crate/{CRATE.study}"] * 2)
    REDRAWN_CLAIMS = f"{R.root}/claims.yaml"  # those that the study was judged on
    REDRAWN.append(
        Shown(
            prefix="redrawn_",
            layout=R,
            context=CRATE.context,
            figures=CRATE.figures,
            targets=[name for name in TARGETS if unmet(name, CRATE.context, CRATE.tables) is None],
            tables=[name for name in CLAIM_TABLES if name in CRATE.tables],
        )
    )

    rule unpack:
        input:
            crate=plain(str(CRATE.path)),
        output:
            tables=[R.table(name) for name in CRATE.tables],
            study=f"{R.root}/study.json",
            claims=REDRAWN_CLAIMS,
        log:
            R.log("unpack"),
        localrule: True
        params:
            **job("unpack", recorded=False, folder=lambda w, output: os.path.dirname(output.study)),
        shell:
            STEP

    rule redraw:
        input:
            [path for name in REDRAWN[0].targets for path in outputs(R.root, name)],
            f"{R.root}/report.html",
        localrule: True
