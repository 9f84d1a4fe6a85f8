# One rule per figure and table of the paper, named as it; each reads its tables and its own settings only.
for name, target in TARGETS.items():

    rule:
        name:
            name
        input:
            [L.table(table) for table in target.tables],
        output:
            [
                report(path, caption=f"../report/{name}.rst", category="Figures and tables") if shown(path) else path
                for path in outputs(L.root, name)
            ],
        log:
            L.log(f"figures/{name}"),
        conda:
            "../../envs/environment.yaml"
        params:
            target=name,
            folder=lambda w, output: os.path.dirname(os.path.dirname(output[0])),
            figures=STUDY.figures.model_dump_json(include={name}),
            context=CONTEXT.model_dump_json(exclude={"margin", "early", "early_seeds"}),
            code=code_digest(
                f"{workflow.basedir}/workflow/scripts/figure.py",
                f"{workflow.basedir}/src/heuristic_core/figures/{name}.py",
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
