# An archive that `export` wrote, drawn anew from its own tables and settings: `--config crate=path`.
REDRAWN = []
if "crate" in config:
    try:
        CRATE = open_crate(str(config["crate"]))
    except InputError as error:
        raise WorkflowError(str(error)) from None

    R = Layout(*[f"{STUDY.results}/from-crate/{CRATE.study}"] * 2)
    REDRAWN_CLAIMS = f"{R.root}/claims.yaml"  # those that the study was judged on
    REDRAWABLE = [name for name in TARGETS if unmet(name, CRATE.context, CRATE.tables) is None]
    REDRAWN = [
        ("redrawn_", R, CRATE.context, CRATE.figures, REDRAWABLE, [t for t in CLAIM_TABLES if t in CRATE.tables])
    ]

    rule unpack:
        input:
            str(CRATE.path),
        output:
            tables=[R.table(name) for name in CRATE.tables],
            study=f"{R.root}/study.json",
            claims=REDRAWN_CLAIMS,
        log:
            R.log("unpack"),
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            code=code_of("unpack"),
            folder=lambda w, output: os.path.dirname(output.study),
        shell:
            "step unpack --crate {input:q} --folder {params.folder} --log {log}"

    rule redraw:
        input:
            [path for name in REDRAWABLE for path in outputs(R.root, name)],
            f"{R.root}/report.html",
        localrule: True

else:

    rule redraw:
        log:
            L.log("redraw"),
        localrule: True
        conda:
            "../../envs/environment.yaml"
        params:
            usage="snakemake --cores all redraw --config crate=<archive that export wrote>",
        shell:
            "echo {params.usage:q} | tee {log} >&2; exit 1"
