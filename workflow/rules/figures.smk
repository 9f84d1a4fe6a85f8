# One rule per figure and table of the paper, of this study and of the published ones, named as it; each reads its tables
# and its own settings only.
for prefix, layout, context, figures, names in [("", L, CONTEXT, STUDY.figures, TARGETS), *PUBLISHED_FIGURES]:
    for name in names:

        rule:
            name:
                f"{prefix}{name}"
            input:
                [layout.table(table) for table in TARGETS[name].tables],
            output:
                [
                    (
                        report(path, caption=f"../report/{name}.rst", category="Figures and tables")
                        if shown(path)
                        else path
                    )
                    for path in outputs(layout.root, name)
                ],
            log:
                layout.log(f"figures/{name}"),
            conda:
                "../../envs/environment.yaml"
            params:
                target=name,
                folder=lambda w, output: os.path.dirname(os.path.dirname(output[0])),
                figures=figures.model_dump_json(include={name}),
                context=context.model_dump_json(exclude={"early", "early_seeds"}),
                code=code_digest(
                    f"{workflow.basedir}/workflow/scripts/figure.py",
                    f"{workflow.basedir}/src/heuristic_core/figures/{module(name)}.py",
                    LOCK,
                ),
            shell:
                "fork figure --name {params.target} --figures {params.figures:q} --context {params.context:q}"
                " --tables {input} --folder {params.folder} --log {log}"


rule report:
    input:
        findings=L.table("findings"),
        captions=[os.path.relpath(f"{workflow.basedir}/workflow/report/{name}.rst") for name in TARGETS],
    output:
        f"{L.root}/report.md",
    log:
        L.log("report"),
    conda:
        "../../envs/environment.yaml"
    params:
        study=STUDY.study,
        code=SCRIPTS["report"],
    shell:
        "fork report --study {params.study} --findings {input.findings} --captions {input.captions}"
        " --report {output} --log {log}"
